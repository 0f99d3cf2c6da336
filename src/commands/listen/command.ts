/** `paylink listen`: its help, the rules between its flags, and what runs it. */
import { parseUrl, hostnameOf, isLoopback, portOf } from "../../values/addresses.ts";
import { LISTENER_PORT, SANDBOX_URL } from "../../domain/known-services.ts";
import type { Outcome } from "../../domain/outcome.ts";
import { accepted, refused, type Parsed } from "../../values/parse-result.ts";
import type { HeaderLine } from "../../http/message.ts";
import { flag, group, lines, oneOf, repeatable, text, toggle, command, excludes, needs } from "../command.ts";
import {
  parseCount,
  parseDelays,
  parseMilliseconds,
  parseOutcome,
  parsePath,
  parsePort,
  parseSize,
  parseTimeout,
  parseBoundHost,
} from "../flag-values.ts";
import {
  eventStoreFlag,
  FORWARD_CONCURRENCY,
  FORWARD_SECONDS,
  forwardingKeyFlag,
  forwardTimeoutFlag,
  policyFlags,
  targetsFlag,
  checkTargets,
  policyFrom,
} from "../shared-flags.ts";
import type { AdminAddress } from "./admin.ts";
import { UNITS } from "../../values/time.ts";
import { isBroker } from "../../receiver/brokers/addresses.ts";

/** The delays of `--retry`: an application that is back within two days gets every webhook. */
export const RETRY = "5s,30s,2m,10m,48x1h";

export const listenFlags = {
  ...group("Address:", {
    port: flag("--port <number>", "the port to listen on; 0 picks a free one", parsePort, {
      default: String(LISTENER_PORT),
    }),
    host: flag("--host <address>", "the address to bind", parseBoundHost, { default: "127.0.0.1" }),
    path: repeatable(
      "--path <path>",
      "a path to receive webhooks on (default: the path of --public-url, else /); repeatable",
      parsePath,
      { example: "/webhooks" },
    ),
    publicUrl: flag(
      "--public-url <url>",
      "the address that the service posts to, if a proxy or a tunnel is in between; a proxy may map its path to --path",
      parseUrl,
      { example: "https://shop.example/hook" },
    ),
    tunnel: toggle("--tunnel", "open a tunnel with cloudflared, and use its address as --public-url"),
    tlsCert: flag(
      "--tls-cert <file>",
      "serve https with this certificate chain (PEM), reloaded when it changes",
      text,
      { example: "cert.pem" },
    ),
    tlsKey: flag("--tls-key <file>", "the certificate's private key (PEM)", text, { example: "key.pem" }),
  }),
  ...group("Verification:", {
    key: repeatable(
      "--key <key>",
      "the service's public key: a file or URL of a PEM, certificate, JWK or JWKS; or the thumbprint of an earlier key, whose stored events are forwarded too; repeatable",
      lines,
      { example: "service.pem" },
    ),
    ...policyFlags,
    strict: toggle("--strict", "refuse records that break the specification"),
    requireTerminal: repeatable(
      "--require-terminal <id>",
      "refuse records of another terminal, or of none; repeatable",
      text,
      { example: "T-1" },
    ),
    verify: toggle(
      "--no-verify",
      "show unverified webhooks too, marked as such; on loopback only, and without a store",
    ),
    maxBody: flag("--max-body <size>", "the largest body that is accepted", parseSize, { default: "64kb" }),
  }),
  ...group("Forwarding:", {
    forwardTo: targetsFlag("-f, --forward-to <target>"),
    forwardHeader: repeatable(
      "-H, --forward-header <name: value>",
      "a header to add; repeatable",
      parseHeader,
      {
        example: "'X-Shop: one'",
      },
    ),
    insecure: toggle("--insecure", "accept a self-signed certificate from the target"),
    ack: flag(
      "--ack <when>",
      "when to answer 200: once your application has accepted the event (forwarded, the default), or once it is stored; paylink then forwards it, with retries",
      oneOf(["forwarded", "stored"]),
    ),
    retry: flag(
      "--retry <delays>",
      `with --ack stored: how long to wait before each retry, or none; after the last one, the event counts as failed (default: ${RETRY}; 48x1h is 48 retries, an hour apart)`,
      parseDelays,
      { example: RETRY },
    ),
    forwardConcurrency: flag(
      "--forward-concurrency <count>",
      `with --ack stored: how many requests this receiver makes to each target at a time; 1 sends in order of arrival. A request that hangs does not hold up the others: it stops counting once as many others have ended. So up to three times as many may be open (default: ${FORWARD_CONCURRENCY})`,
      parseCount(1, 1000),
      { example: "1" },
    ),
    forwardTimeout: forwardTimeoutFlag(
      "; without --ack stored, less than 10s, because the service waits for the answer",
      FORWARD_SECONDS,
    ),
    signWith: forwardingKeyFlag,
  }),
  ...group("Output:", {
    full: toggle("--full", "every field of the record, instead of a card"),
    compact: toggle("--compact", "one line per record; with --json, lines without headers, record and body"),
  }),
  ...group("Production:", {
    admin: flag(
      "--admin <host:port>",
      "a private listener with /healthz, /readyz and /metrics (Prometheus)",
      parseHostAndPort,
      { example: "127.0.0.1:9100" },
    ),
    drain: flag(
      "--drain <duration>",
      "keep receiving for this long after SIGTERM, while /readyz answers 503 (default: end at once)",
      parseTimeout,
      { example: "10s" },
    ),
  }),
  ...group("Scripts:", {
    expect: repeatable(
      "--expect <count>",
      "end once this many webhooks have arrived: 2, or approved:2; repeatable",
      parseExpectation,
      { example: "approved:2" },
    ),
    timeout: flag(
      "--timeout <duration>",
      "end after this long; exit 8 if an expected webhook is missing (default: no limit)",
      parseMilliseconds,
      { example: "30s" },
    ),
  }),
  ...group("Storage:", {
    db: eventStoreFlag,
    keep: flag(
      "--keep <duration>",
      "delete events older than this (at least 1d) in the background, but none that waits to be forwarded or has failed",
      parseKeep,
      { example: "90d" },
    ),
    store: toggle("--no-store", "keep no events"),
  }),
};

/** A delivery of a deleted event counts as a new one, and services repeat a delivery for hours. */
function parseKeep(text: string): Parsed<number> {
  const age = parseMilliseconds(text);
  return age.ok && age.value < UNITS.d ? refused("must be at least 1d") : age;
}

/** `127.0.0.1:9100`, `[::1]:9100` or `localhost:9100`; port 0 picks a free one. */
function parseHostAndPort(text: string): Parsed<AdminAddress> {
  const [, inner, name, digits = ""] =
    /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+)):(\d+)$/i.exec(text.trim()) ?? [];
  const [host, port] = [inner ?? name, parsePort(digits)];
  return host !== undefined && port.ok
    ? accepted({ host, port: port.value })
    : refused("must be a host and a port, such as 127.0.0.1:9100");
}

/** What a script waits for: a number of webhooks, or of those with one outcome. */
export interface Expectation {
  /** Null for any outcome. */
  readonly outcome: Outcome | null;
  readonly count: number;
}

/** `2` or `approved:2`, from 1. */
function parseExpectation(text: string): Parsed<Expectation> {
  const [name, digits] = text.includes(":") ? text.split(":", 2) : [undefined, text];
  const outcome = name === undefined ? accepted(null) : parseOutcome(name);
  const count = parseCount(1, Number.MAX_SAFE_INTEGER)(digits ?? "");
  return outcome.ok && count.ok
    ? accepted({ outcome: outcome.value, count: count.value })
    : refused("must be a number or an outcome with a number, such as 2 or approved:2");
}

/** RFC 9110 5.1, 5.5: a token, and visible ASCII with inner white space. */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?[ \t]*$/;

async function parseHeader(text: string): Promise<Parsed<HeaderLine>> {
  const { mayAdd } = await import("../../receiver/forwarded-request.ts");
  const [, name, value = ""] = HEADER.exec(text) ?? [];
  if (name === undefined) return refused('must be "Name: value"');
  if (!mayAdd(name))
    return refused(
      "must not be a header that is signed, that frames the message, or that paylink sets itself",
    );
  return accepted([name, value]);
}

/** Milliseconds that the sandbox waits for an answer; how long the service waits is not documented. */
const SENDER_WAITS = 10_000;

export default command({
  examples: [
    `paylink listen --port ${LISTENER_PORT}`,
    "paylink listen --forward-to localhost:3000/webhooks",
    "paylink listen --forward-to 3000/webhooks --ack stored --sign-with forward.pem",
    "paylink listen --forward-to 3000/webhooks --require-terminal T-1",
    "paylink listen --forward-to nats://localhost:4222/payments --no-store",
    "paylink listen --expect approved:2 --expect declined:1 --timeout 30s --json",
    `paylink listen --key ${SANDBOX_URL}/.well-known/jwks.json --public-url https://shop.example/hook`,
  ],
  flags: listenFlags,
  rules: [
    excludes(["tunnel"], ["publicUrl", "tlsCert"]),
    needs(["tlsCert"], ["tlsKey"]),
    needs(["tlsKey"], ["tlsCert"]),
    needs(["forwardHeader", "insecure", "ack", "signWith", "forwardTimeout"], ["forwardTo"]),
    excludes(["store"], ["db", "keep"]),
    excludes(["full"], ["compact"]),
    excludes(
      ["verify"],
      ["publicUrl", "tunnel", "signWith", "requireTerminal", "db", "keep"],
      "is for verified webhooks",
    ),
    excludes(["expect", "tunnel", "verify"], ["admin"], "is for production"),
  ],
  consequence: "Nothing is listening.",
  check: async ({ ifRead }, usage, context) => {
    await ifRead(["store", "signWith", "requireCreated"], async ({ store, signWith, ...policy }) => {
      // Without a store, an event is new again after a restart: it would leave with a fresh signature, however old it is.
      if (store || signWith === undefined || policyFrom(policy, await context.settings()).requireCreated)
        return;
      usage.problems.push({
        at: "--sign-with",
        message: "needs --require-created with --no-store: an old webhook would be signed anew",
      });
    });
    ifRead(["host", "verify"], ({ host, verify }) => {
      if (!verify && !isLoopback(hostnameOf(host)))
        usage.problems.push({
          at: "--no-verify",
          message: `is for loopback only: it cannot be used with --host ${host}`,
        });
    });
    ifRead(["ack", "store", "verify", "tunnel", "expect"], ({ ack, store, verify, tunnel, expect }) => {
      for (const [flag, isGiven, why] of [
        ["--no-store", !store, "what is acknowledged would be lost"],
        ["--no-verify", !verify, "only verified webhooks are stored"],
        ["--tunnel", tunnel, "its address changes at each start"],
        ["--expect", expect.length > 0, "it ends, and what is acknowledged would wait"],
      ] as const)
        if (ack === "stored" && isGiven)
          usage.problems.push({ at: "--ack", message: `stored cannot be used with ${flag}: ${why}` });
    });
    ifRead(["ack", "retry", "forwardConcurrency"], ({ ack, retry, forwardConcurrency }) => {
      for (const [flag, value, who] of [
        ["--retry", retry, "the service retries"],
        ["--forward-concurrency", forwardConcurrency, "each webhook goes out as the service sends it"],
      ] as const)
        if (ack !== "stored" && value !== undefined)
          usage.problems.push({ at: flag, message: `has no effect without --ack stored: ${who}` });
    });
    ifRead(["ack", "forwardTimeout"], ({ ack, forwardTimeout }) => {
      if (ack !== "stored" && forwardTimeout >= SENDER_WAITS)
        usage.problems.push({
          at: "--forward-timeout",
          message:
            "must be less than 10s without --ack stored: the service waits for the answer, and the sandbox gives up after 10s",
        });
    });
    ifRead(["ack", "admin", "store", "db"], ({ ack, admin, store, db }) => {
      const isProduction = ack === "stored" || admin !== undefined;
      if (isProduction && store && db === undefined && context.env["PAYLINK_DB"]?.trim() === "")
        usage.problems.push({
          at: "PAYLINK_DB",
          message:
            "is empty, so events would be kept in a file of this machine: set it, unset it, or use --db",
        });
    });
    ifRead(["forwardTo", "port", "admin"], ({ forwardTo, port, admin }) => {
      checkTargets("--forward-to", forwardTo, usage);
      const own = [port, admin?.port ?? 0].filter((one) => one !== 0);
      for (const { url } of forwardTo)
        if (!isBroker(url) && isLoopback(url.hostname) && own.includes(portOf(url)))
          usage.problems.push({
            at: "--forward-to",
            message: `is the address that listen itself receives at; give your application's (got "${url.href}")`,
          });
    });
  },
  run: async (context, values) => {
    const [{ listen }, { listenOptions }] = await Promise.all([
      import("./listen.ts"),
      import("./options.ts"),
    ]);
    return listen(context, listenOptions(values, await context.settings()));
  },
});
