/** `paylink listen`: its flags and help. */
import { collect, examples, type Register } from "../declare.ts";

export interface ListenFlags {
  readonly port: string;
  readonly host: string;
  readonly path?: string;
  readonly key?: readonly string[];
  readonly publicUrl?: string;
  readonly tolerance: string;
  readonly require?: readonly string[];
  readonly requireCreated?: boolean;
  readonly strict?: boolean;
  /** False with `--no-verify`. */
  readonly verify: boolean;
  readonly compact?: boolean;
  readonly maxBody: string;
}

export const registerListen: Register = (program, start) => {
  const command = program
    .command("listen")
    .description("receive webhooks on this machine, verify each and show its transaction record")
    .optionsGroup("Where:")
    .option("--port <number>", "the port to listen on; 0 takes a free one", "4000")
    .option("--host <address>", "the address to bind", "127.0.0.1")
    .option("--path <path>", "the only path that is answered (default: the public URL's, else any)")
    .option(
      "--public-url <url>",
      "the address that the service posts to, where a proxy or tunnel stands between",
    )
    .optionsGroup("What is believed:")
    .option("--key <file or URL>", "the service's public key: PEM, JWK or JWKS; repeatable", collect)
    .option("--tolerance <duration>", "how old a signature may be", "5m")
    .option("--require <component>", "a component that the signature must cover; repeatable", collect)
    .option("--require-created", "refuse signatures that do not say when they were made")
    .option("--strict", "refuse records that break the specification")
    .option("--no-verify", "show unverified webhooks too, marked so; on loopback only")
    .option("--max-body <size>", "the largest body that is taken", "1mb")
    .optionsGroup("What is shown:")
    .option("--compact", "one line a record")
    .action(async (flags: ListenFlags) => {
      const { listen } = await import("./listen.ts");
      await listen(await start(command), flags);
    });
  examples(command, [
    "paylink listen --port 4000",
    "paylink listen --key service.pem --public-url https://shop.example/webhooks",
  ]);
};
