/** `paylink logout`: its help, and what runs it. */
import { examples, type Register } from "../declare.ts";

export const registerLogout: Register = (program, execute) => {
  const command = program
    .command("logout")
    .description("delete a profile's token and client secret; its defaults stay")
    .action(() =>
      execute(command, async (context) => {
        const { logout } = await import("./logout.ts");
        return logout(context);
      }),
    );
  examples(command, ["paylink logout", "paylink logout --profile sandbox"]);
};
