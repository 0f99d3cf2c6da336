/** The flags of `paylink listen`. */
import { LISTENER_PORT } from "../../domain/local-addresses.ts";
import { collect, oneOf, type FlagsOf, type NewCommand } from "../declare.ts";

/** The delays of `--retry`: an application that is back within a day gets every webhook. */
export const RETRY = "5s,30s,2m,10m,1h,6h,24h";

export const listenFlags = (command: NewCommand) =>
  command
    .optionsGroup("Address:")
    .option("--port <number>", "the port to listen on; 0 picks a free one", String(LISTENER_PORT))
    .option("--host <address>", "the address to bind", "127.0.0.1")
    .option(
      "--path <path>",
      "a path that is answered (default: the path of --public-url, else /); repeatable",
      collect,
    )
    .option(
      "--public-url <url>",
      "the address that the service posts to, if a proxy or tunnel stands between",
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
    .option("--require-created", "refuse signatures that do not say when they were made")
    .option("--no-require-created", "accept them, whatever the profile says")
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
    .option("--insecure", "accept a self-signed certificate from the target, and from nothing else")
    .addOption(
      oneOf(
        "--ack <when>",
        "what 200 means: forwarded (default), or stored, and paylink forwards by itself until your application accepts",
        ["forwarded", "stored"],
      ),
    )
    .option(
      "--retry <delays>",
      `with --ack stored: the wait before each retry, or none; then the event has failed (default: ${RETRY})`,
    )
    .optionsGroup("Output:")
    .addOption(
      oneOf("--outcome <outcome>", "show and forward only these", [
        "approved",
        "declined",
        "cancelled",
        "unclear",
      ]),
    )
    .option("--reference <text>", "show and forward only records whose reference contains this")
    .option("--compact", "one line per record")
    .optionsGroup("Production:")
    .option("--admin <host:port>", "a private listener with /healthz, /readyz and /metrics (Prometheus)")
    .option(
      "--drain <duration>",
      "keep receiving for this long after SIGTERM, while /readyz answers 503 (default: not at all)",
    )
    .optionsGroup("Scripts:")
    .option("--expect <count>", "end once this many have arrived: 2, or approved:2; repeatable", collect)
    .option("--timeout <duration>", "how long to wait for what is expected")
    .optionsGroup("Storage:")
    .option(
      "--db <place>",
      "where events are kept: a file or postgres://… (default: in paylink's data folder)",
    )
    .option("--no-store", "keep no events");

export type ListenFlags = FlagsOf<typeof listenFlags>;
