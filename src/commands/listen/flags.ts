/** The flags of `paylink listen`. */
import { LISTENER_PORT } from "../../domain/addresses.ts";
import { collect, type FlagsOf, type NewCommand, oneOf } from "../declare.ts";

/** The delays of `--retry`: an application that is back within a day gets every webhook. */
export const RETRY = "5s,30s,2m,10m,1h,6h,24h";

export const listenFlags = (command: NewCommand) =>
  command
    .optionsGroup("Address:")
    .option("--port <number>", "the port to listen on; 0 picks a free one", String(LISTENER_PORT))
    .option("--host <address>", "the address to bind", "127.0.0.1")
    .option(
      "--path <path>",
      "a path to receive webhooks on (default: the path of --public-url, else /); repeatable",
      collect,
    )
    .option(
      "--public-url <url>",
      "the address that the service posts to, if a proxy or a tunnel is in between",
    )
    .option("--tunnel", "open a tunnel with cloudflared, and use its address as --public-url")
    .option("--tls-cert <file>", "serve https with this certificate chain (PEM), reloaded when it changes")
    .option("--tls-key <file>", "the certificate's private key (PEM)")
    .optionsGroup("Verification:")
    .option(
      "--key <file or URL>",
      "the service's public key: PEM, certificate, JWK or JWKS; repeatable",
      collect,
    )
    .option("--tolerance <duration>", "how old a signature may be (default: 5m)")
    .option("--require <component>", "a component that the signature must cover; repeatable", collect)
    .option("--require-created", "refuse signatures without a creation time")
    .option(
      "--no-require-created",
      "accept signatures without a creation time, even if the profile requires one",
    )
    .option("--strict", "refuse records that break the specification")
    .option("--no-verify", "show unverified webhooks too, marked as such; on loopback only")
    .option("--max-body <size>", "the largest body that is accepted", "1mb")
    .optionsGroup("Forwarding:")
    .option(
      "-f, --forward-to <target>",
      "your application: 3000, 3000/hook, /hook or a URL; repeatable for single outcomes: declined=3001/failed",
      collect,
    )
    .option("-H, --forward-header <name: value>", "a header to add; repeatable", collect)
    .option("--insecure", "accept a self-signed certificate from the target")
    .addOption(
      oneOf(
        "--ack <when>",
        "what 200 means: forwarded (default), or stored; paylink then forwards it with retries",
        ["forwarded", "stored"],
      ),
    )
    .option(
      "--retry <delays>",
      `with --ack stored: the wait before each retry, or none; then the event has failed (default: ${RETRY})`,
    )
    .optionsGroup("Output:")
    .addOption(
      oneOf("--outcome <outcome>", "show and forward only payments with this outcome", [
        "approved",
        "declined",
        "cancelled",
        "unclear",
      ]),
    )
    .option("--reference <text>", "show and forward only records whose reference contains this text")
    .option("--compact", "one line per record")
    .optionsGroup("Production:")
    .option("--admin <host:port>", "a private listener with /healthz, /readyz and /metrics (Prometheus)")
    .option(
      "--drain <duration>",
      "keep receiving for this long after SIGTERM, while /readyz answers 503 (default: end at once)",
    )
    .optionsGroup("Scripts:")
    .option("--expect <count>", "end once this many have arrived: 2, or approved:2; repeatable", collect)
    .option("--timeout <duration>", "how long to wait for the expected webhooks")
    .optionsGroup("Storage:")
    .option(
      "--db <file or URL>",
      "where events are kept: a file or postgres://… (default: in paylink's data folder)",
    )
    .option("--no-store", "keep no events");

export type ListenFlags = FlagsOf<typeof listenFlags>;
