/** `paylink version`: prints what `--version` prints, or JSON. */
import { examples, type Register } from "../declare.ts";

export const registerVersion: Register = (program, start) => {
  const command = program
    .command("version")
    .description("print the version")
    .action(async () => {
      const { out } = await start(command);
      const version = program.version() ?? "";
      out.data(out.json ? JSON.stringify({ version }) : version);
    });
  examples(command, ["paylink version", "paylink version --json"]);
};
