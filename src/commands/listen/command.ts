/** `paylink listen`: its help, the rules between its flags, and what runs it. */
import { hostnameOf, isLoopback, portOf } from "../../values/addresses.ts";
import { LISTENER_PORT, SANDBOX_URL } from "../../domain/known-services.ts";
import { isBroker } from "../../receiver/brokers/addresses.ts";
import { command, excludes, needs } from "../command.ts";
import { checkTargets, policyFrom } from "../shared-flags.ts";
import { listenFlags } from "./flags.ts";

/** Milliseconds that the sandbox waits for an answer; how long the service waits is not documented. */
const SENDER_WAITS = 10_000;

export const listen = command({
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
