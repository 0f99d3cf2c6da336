/** `paylink verify`: its flags and help. */
import { collect, examples, type Register } from "../declare.ts";

export interface VerifyFlags {
  readonly event?: string;
  readonly db?: string;
  readonly key?: readonly string[];
  readonly publicUrl?: string;
  readonly tolerance: string;
  readonly require?: readonly string[];
  readonly requireCreated?: boolean;
  readonly at?: string;
}

export const registerVerify: Register = (program, start) => {
  const command = program
    .command("verify")
    .argument("[file]", "a raw HTTP/1.1 request, JSON, or a line of listen --json; - or nothing for stdin")
    .description("explain one captured webhook: each check, the signature base, and what to change")
    .optionsGroup("What is explained:")
    .option("--event <uti>", "an event that listen stored, by its uti or the start of one")
    .option("--db <path>", "where listen keeps its events (default: in paylink's data folder)")
    .optionsGroup("What it is held to:")
    .option("--key <file or URL>", "the service's public key: PEM, JWK or JWKS; repeatable", collect)
    .option("--public-url <url>", "the address that the service posted to")
    .option("--tolerance <duration>", "how old a signature may be", "5m")
    .option("--require <component>", "a component that the signature must cover; repeatable", collect)
    .option("--require-created", "refuse signatures that do not say when they were made")
    .option("--at <time>", "the time to judge at: ISO 8601 or Unix seconds (default: now)")
    .action(async (file: string | undefined, flags: VerifyFlags) => {
      const { verify } = await import("./verify.ts");
      await verify(await start(command), file, flags);
    });
  examples(command, [
    "paylink trigger approved --dry-run | paylink verify",
    "paylink verify --event $(paylink events list --limit 1 --quiet)",
    "paylink trigger approved --dry-run > webhook.http && paylink verify webhook.http --at 30s",
    "paylink trigger approved --to http://localhost:3000/ --dry-run | paylink verify --public-url http://localhost:3000/",
  ]);
};
