/** `paylink login`: its help, and what runs it. */
import { SANDBOX_URL } from "../../domain/addresses.ts";
import { type Declare, examples } from "../declare.ts";
import { loginFlags } from "./flags.ts";

export const declareLogin: Declare = (command, execute) => {
  loginFlags(command).action((flags) =>
    execute(command, async (context) => {
      const { loginOptions } = await import("./options.ts");
      const { login } = await import("./login.ts");
      return login(context, await loginOptions(flags, context));
    }),
  );
  examples(command, [
    `echo "$TOKEN" | paylink login -p shop --base-url ${SANDBOX_URL} --terminal-id 1234567890 --currency EUR --customer-name "Ada Lovelace" --token-stdin`,
    `echo "$SECRET" | paylink login -p shop --base-url ${SANDBOX_URL} --terminal-id 1234567890 --client-id sandbox --client-secret-stdin --token-url ${SANDBOX_URL}/oauth/token`,
  ]);
};
