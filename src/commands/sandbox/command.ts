/** `paylink sandbox` and its subcommands: their help, and what runs them. */
import { SANDBOX_PORT } from "../../domain/known-services.ts";
import { OPERATION_NAMES } from "../../domain/operations.ts";
import { accepted, refused, type Parsed } from "../../values/parse-result.ts";
import { parseWhen } from "../../values/time.ts";
import { flag, group, oneOf, repeatable, text, toggle, argument, command } from "../command.ts";
import { failFlag, plainHostFlag, timeoutFlag } from "../shared-flags.ts";
import { parseBoundHost, parseCover, parseDelays, parsePort } from "../flag-values.ts";
import { hostnameOf, isLoopback } from "../../values/addresses.ts";
import { parseApiFault } from "../../sandbox/api-faults.ts";

export const sandboxFlags = {
  ...group("Address:", {
    port: flag("--port <number>", "the port to serve on; 0 picks a free one", parsePort, {
      default: String(SANDBOX_PORT),
    }),
    host: flag("--host <address>", "the address to bind", parseBoundHost, { default: "127.0.0.1" }),
    allowRemote: toggle("--allow-remote", "serve other machines, and post webhooks to them"),
    allowHost: repeatable(
      "--allow-host <name>",
      "serve and post to this host name, for containers; repeatable",
      parseHost,
      { example: "shop" },
    ),
    plainHost: plainHostFlag,
    insecure: toggle("--insecure", "accept self-signed certificates on this machine and on allowed hosts"),
  }),
  ...group("Storage:", {
    db: flag(
      "--db <file>",
      "where links, payments and deliveries are kept (default: in paylink's data folder)",
      text,
      { example: "sandbox.db" },
    ),
    reset: toggle("--reset", "delete what was kept, and start empty"),
  }),
  ...group("Webhook signatures:", {
    cover: flag(
      "--cover <components>",
      "the header fields and derived components to sign (default: content-digest content-length content-type)",
      parseCover,
      { example: '"content-digest @method"' },
    ),
    created: toggle("--no-created", "leave created out of the signatures"),
  }),
  ...group("Testing:", {
    clock: flag(
      "--clock <time>",
      "stop the clock at this time; `sandbox advance` moves it",
      (typed, { now }) => parseWhen(typed, now()),
      { example: "2026-01-31T12:00:00Z" },
    ),
    retry: flag(
      "--retry <schedule>",
      "waits between attempts, or none (default: 5s,30s,2m,10m,1h)",
      parseDelays,
      { example: "1s,1s" },
    ),
    deliver: flag(
      "--deliver <fault>",
      "how deliveries fail",
      oneOf(["duplicate", "late", "out-of-order", "drop-first", "same-signature"]),
    ),
    fail: failFlag,
    duplicateInvoices: flag(
      "--duplicate-invoices <rule>",
      "refuse or accept a link with the invoiceId of a paid order",
      oneOf(["refuse", "accept"]),
      { default: "refuse" },
    ),
    tokenAuth: flag(
      "--token-auth <method>",
      "how clients send their credentials: post, as form fields; or basic, with HTTP Basic too",
      oneOf(["post", "basic"]),
      { default: "post" },
    ),
  }),
};

function parseHost(text: string): Parsed<string> {
  const isName = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])$/i.test(text) && URL.canParse(`http://${text}`);
  return isName
    ? accepted(new URL(`http://${text}`).hostname)
    : refused("must be a host name or an address without scheme and port, such as shop");
}

const SANDBOX_NOTES =
  "The sandbox describes its API in OpenAPI 3.1 at /openapi.json; paylink help files openapi prints the same.";

const FAULT_NOTES =
  "With a status (429, 503), the API does nothing, and answers with an error as the service words it. html does nothing, and answers with a gateway's page. The others do the work: lost closes the connection without an answer, late=12s answers 12 seconds later, and gzip compresses the answer.";

/** Advancing the clock far waits for every delivery attempt in between. */
const controlTimeout = (afterwards: string) => ({ timeout: timeoutFlag({ default: "10m" }, afterwards) });

export default command({
  examples: [
    "paylink sandbox",
    "paylink sandbox --port 0 --json",
    "paylink sandbox --clock 2026-01-31T12:00:00Z",
    "paylink sandbox --deliver duplicate --retry 1s,1s",
    "paylink sandbox --fail create=lost:1 --fail token=500:2",
    'paylink sandbox --cover "content-digest @method @target-uri" --no-created',
  ],
  notes: SANDBOX_NOTES,
  flags: sandboxFlags,
  consequence: "The sandbox did not start.",
  check: ({ ifRead }, { problems }) => {
    ifRead(["host", "allowRemote", "allowHost"], ({ host, allowRemote, allowHost }) => {
      if (!allowRemote && allowHost.length === 0 && !isLoopback(hostnameOf(host)))
        problems.push({
          at: "--host",
          message: `must be on loopback unless --allow-host or --allow-remote is given (got "${host}")`,
        });
    });
  },
  run: async (context, values) => (await import("./sandbox.ts")).sandbox(context, values),
  commands: {
    advance: command({
      summary: "move the running sandbox's clock forward, and run the retries and expiries on the way",
      examples: [
        "paylink sandbox advance 30s",
        "paylink sandbox advance 2099-12-31T12:00:00Z",
        "paylink sandbox advance 7d --json",
      ],
      arguments: {
        when: argument(
          "<when>",
          "how far, such as 30s, 2h or 7d; or to when, such as 2099-12-31T12:00:00Z",
          // A duration counts from the sandbox's own time: it gets the text.
          (typed, { now }) => {
            const parsed = parseWhen(typed, now());
            return parsed.ok ? accepted(typed.trim()) : parsed;
          },
          { example: "30s" },
        ),
      },
      flags: controlTimeout("The sandbox's clock may have moved."),
      consequence: "The clock was not moved.",
      run: async (context, values) => (await import("./sandbox.ts")).advanceClock(context, values),
    }),
    "rotate-key": command({
      summary: "sign with a new key from now on; the old one is served for another day",
      examples: ["paylink sandbox rotate-key", "paylink sandbox rotate-key --json"],
      flags: controlTimeout("The sandbox may sign with a new key."),
      consequence: "The key was not changed.",
      run: async (context) => (await import("./sandbox.ts")).rotateKey(context),
    }),
    fail: command({
      summary: "make the running sandbox's API fail on purpose, or show the faults that are set",
      examples: [
        "paylink sandbox fail create=lost:1",
        "paylink sandbox fail token=500 list=late=12s",
        "paylink sandbox fail --clear",
      ],
      notes: FAULT_NOTES,
      arguments: {
        faults: argument(
          "[fault...]",
          `<operation>=<fault>, and :<count> to limit it; the operations are ${OPERATION_NAMES.join(", ")}`,
          parseApiFault,
          {
            example: "create=lost:1",
          },
        ),
      },
      flags: {
        clear: toggle("--clear", "remove the faults that were set before"),
        ...controlTimeout("The faults may have been set."),
      },
      consequence: "The faults were not changed.",
      run: async (context, values) => (await import("./sandbox.ts")).setFaults(context, values),
    }),
    reset: command({
      summary: "delete the running sandbox's links, payments, deliveries, requests and faults",
      examples: ["paylink sandbox reset", "paylink sandbox reset --json"],
      flags: controlTimeout("The sandbox may have been emptied."),
      consequence: "Nothing was deleted.",
      run: async (context) => (await import("./sandbox.ts")).resetSandbox(context),
    }),
  },
});
