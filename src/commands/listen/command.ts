/** `paylink listen`: its flags and help. */
import { LISTENER_PORT, SANDBOX_URL } from "../../domain/local-addresses.ts";
import { collect, examples, oneOf, type Register } from "../declare.ts";

export interface ListenFlags {
  readonly port: string;
  readonly host: string;
  readonly path?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly key?: readonly string[];
  readonly publicUrl?: string;
  readonly tolerance: string;
  readonly require?: readonly string[];
  readonly requireCreated?: boolean;
  readonly strict?: boolean;
  /** False with `--no-verify`. */
  readonly verify: boolean;
  readonly maxBody: string;
  readonly forwardTo?: string;
  readonly forwardFailedTo?: string;
  readonly forwardHeader?: readonly string[];
  readonly insecure?: boolean;
  readonly outcome?: string;
  readonly reference?: string;
  readonly compact?: boolean;
  readonly expect?: readonly string[];
  readonly timeout?: string;
  readonly db?: string;
  /** False with `--no-store`. */
  readonly store: boolean;
}

export const registerListen: Register = (program, start) => {
  const command = program
    .command("listen")
    .description("receive webhooks on this machine, verify each and show its transaction record")
    .optionsGroup("Where:")
    .option("--port <number>", "the port to listen on; 0 takes a free one", String(LISTENER_PORT))
    .option("--host <address>", "the address to bind", "127.0.0.1")
    .option("--path <path>", "the only path that is answered (default: the public URL's, else /)")
    .option(
      "--public-url <url>",
      "the address that the service posts to, where a proxy or tunnel stands between",
    )
    .option(
      "--tls-cert <file>",
      "serve https with this certificate chain, as PEM; read again when it changes",
    )
    .option("--tls-key <file>", "the certificate's private key, as PEM")
    .optionsGroup("What is believed:")
    .option("--key <file or URL>", "the service's public key: PEM, JWK or JWKS; repeatable", collect)
    .option("--tolerance <duration>", "how old a signature may be", "5m")
    .option("--require <component>", "a component that the signature must cover; repeatable", collect)
    .option("--require-created", "refuse signatures that do not say when they were made")
    .option("--strict", "refuse records that break the specification")
    .option("--no-verify", "show unverified webhooks too, marked so; on loopback only")
    .option("--max-body <size>", "the largest body that is taken", "1mb")
    .optionsGroup("What is passed on:")
    .option("-f, --forward-to <target>", "your application: 3000, localhost:3000/hook, /hook or a URL")
    .option("--forward-failed-to <target>", "another target for declined and cancelled payments")
    .option("-H, --forward-header <name: value>", "a header to add; repeatable", collect)
    .option("--insecure", "take a self-signed certificate from the target, and from nothing else")
    .optionsGroup("What is shown:")
    .addOption(
      oneOf("--outcome <outcome>", "show and forward only these", [
        "approved",
        "declined",
        "cancelled",
        "unclear",
      ]),
    )
    .option("--reference <text>", "show and forward only those whose reference contains this")
    .option("--compact", "one line a record")
    .optionsGroup("For scripts:")
    .option("--expect <count>", "end once so many have come: 2, or approved:2; repeatable", collect)
    .option("--timeout <duration>", "how long to wait for what is expected")
    .optionsGroup("What is kept:")
    .option("--db <path>", "where events are kept (default: in paylink's data folder)")
    .option("--no-store", "keep no events")
    .action(async (flags: ListenFlags) => {
      const { listen } = await import("./listen.ts");
      await listen(await start(command), flags);
    });
  examples(command, [
    `paylink listen --port ${LISTENER_PORT}`,
    "paylink listen --forward-to localhost:3000/webhooks",
    "paylink listen --expect approved:2 --expect declined:1 --timeout 30s --json",
    `paylink listen --key ${SANDBOX_URL}/.well-known/jwks.json --public-url https://shop.example/hook`,
  ]);
};
