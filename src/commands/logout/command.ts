/** `paylink logout`: its help, and what runs it. */
import { examples, type Declare } from "../declare.ts";

export const declareLogout: Declare = (command, execute) => {
  command.action(() =>
    execute(command, async (context) => {
      const { logout } = await import("./logout.ts");
      return logout(context);
    }),
  );
  examples(command, ["paylink logout", "paylink logout --profile sandbox"]);
};
