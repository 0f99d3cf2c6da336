/** `paylink login`: its flags and help. */
import { SANDBOX_URL } from "../../domain/local-addresses.ts";
import { examples, type Register } from "../declare.ts";

export interface LoginFlags {
  readonly baseUrl?: string;
  readonly terminalId?: string;
  readonly tokenStdin?: boolean;
  readonly clientId?: string;
  readonly clientSecretStdin?: boolean;
  readonly tokenUrl?: string;
  readonly webhookKey?: string;
}

export const registerLogin: Register = (program, start) => {
  const command = program
    .command("login")
    .description(
      "store an account at a service, from flags and, in a terminal, answers to what they leave open",
    )
    .optionsGroup("The account:")
    .option("--base-url <url>", "the service's address, without /v1")
    .option("--terminal-id <id>", "the terminal that takes the payments")
    .option("--webhook-key <file or URL>", "the service's public key, to verify webhooks with")
    .optionsGroup("An access token:")
    .option("--token-stdin", "read the token from standard input")
    .optionsGroup("Client credentials (OAuth 2.0):")
    .option("--client-id <id>", "the client's id")
    .option("--client-secret-stdin", "read the client's secret from standard input")
    .option("--token-url <url>", "where access tokens are obtained")
    .action(async (flags: LoginFlags) => {
      const { login } = await import("./login.ts");
      await login(await start(command), flags);
    });
  examples(command, [
    `echo "$TOKEN" | paylink login -p shop --base-url ${SANDBOX_URL} --terminal-id 1234567890 --token-stdin`,
    `echo "$SECRET" | paylink login -p shop --base-url ${SANDBOX_URL} --terminal-id 1234567890 --client-id sandbox --client-secret-stdin --token-url ${SANDBOX_URL}/oauth/token`,
  ]);
};
