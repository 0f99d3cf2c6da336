/** `paylink logout`: its help. */
import { examples, type Register } from "../declare.ts";

export const registerLogout: Register = (program, start) => {
  const command = program
    .command("logout")
    .description("forget a profile's token and client secret; its defaults stay")
    .action(async () => {
      const { logout } = await import("./logout.ts");
      await logout(await start(command));
    });
  examples(command, ["paylink logout", "paylink logout --profile sandbox"]);
};
