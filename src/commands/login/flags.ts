/** The flags of `paylink login`. Secrets come from standard input or a prompt, never as arguments. */
import type { FlagsOf, NewCommand } from "../declare.ts";

export const loginFlags = (command: NewCommand) =>
  command
    .optionsGroup("The account:")
    .option("--service <name>", "a built-in service: dna or dna-test; its addresses need no flags")
    .option("--base-url <url>", "the service's address, without /v1")
    .option("--terminal-id <id>", "the terminal of the payments")
    .option("--currency <code>", "the default currency of links")
    .option("--customer-name <name>", "the default customer's name of links")
    .option("--callback-url <url>", "the default address for the webhooks of payments")
    .option("--webhook-key <file or URL>", "the service's public key, to verify webhooks")
    .optionsGroup("An access token:")
    .option("--token-stdin", "read the token from standard input")
    .optionsGroup("Client credentials (OAuth 2.0):")
    .option("--client-id <id>", "the client's id")
    .option("--client-secret-stdin", "read the client's secret from standard input")
    .option("--token-url <url>", "where access tokens are obtained")
    .option("--token-scope <scope>", "the scope of the access tokens")
    .option("--token-auth <how>", "how the client authenticates: basic, basic-plain, post or json")
    .optionsGroup("Checks:")
    .option("--no-check", "store the account without asking the service");

export type LoginFlags = FlagsOf<typeof loginFlags>;
