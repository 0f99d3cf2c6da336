/** `paylink version`: prints what `--version` prints, or JSON. */
import { examples, type Register } from "../declare.ts";

export const registerVersion: Register = (program, execute) => {
  const command = program
    .command("version")
    .description("print the version")
    .action(() =>
      execute(command, async ({ out }) => {
        const version = program.version() ?? "";
        out.data(out.json ? JSON.stringify({ version }) : version);
        return 0;
      }),
    );
  examples(command, ["paylink version", "paylink version --json"]);
};
