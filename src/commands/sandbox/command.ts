/** `paylink sandbox` and its subcommands: their help, and what runs them. */
import { hostnameOf, isLoopback } from "../../values/addresses.ts";
import { parseApiFault } from "../../sandbox/api-faults.ts";
import { accepted } from "../../values/parse-result.ts";
import { argument, command, toggle } from "../command.ts";
import { parseWhen } from "../../values/time.ts";
import { timeoutFlag } from "../shared-flags.ts";
import { sandboxFlags } from "./flags.ts";

const SANDBOX_NOTES =
  "The sandbox describes its API in OpenAPI 3.1 at /openapi.json; paylink help files openapi prints the same.";

const FAULT_NOTES =
  "With a status (429, 503), the API does nothing and answers with an error as the service words it. html answers with a gateway's page. lost does the work, and closes the connection without an answer. late=12s answers 12 seconds later. gzip compresses the answer.";

/** Advancing the clock far waits for every delivery attempt in between. */
const controlTimeout = (afterwards: string) => ({ timeout: timeoutFlag({ default: "10m" }, afterwards) });

const advance = command({
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
});

const rotateKey = command({
  summary: "sign with a new key from now on; the old one is served for another day",
  examples: ["paylink sandbox rotate-key", "paylink sandbox rotate-key --json"],
  flags: controlTimeout("The sandbox may sign with a new key."),
  consequence: "The key was not changed.",
  run: async (context) => (await import("./sandbox.ts")).rotateKey(context),
});

const fail = command({
  summary: "make the running sandbox's API fail on purpose, or show the faults that are set",
  examples: [
    "paylink sandbox fail create=lost:1",
    "paylink sandbox fail token=500 list=late=12s",
    "paylink sandbox fail --clear",
  ],
  notes: FAULT_NOTES,
  arguments: {
    faults: argument("[fault...]", "the operation, =, the fault, and :<count> to limit it", parseApiFault, {
      example: "create=lost:1",
    }),
  },
  flags: {
    clear: toggle("--clear", "remove the faults that were set before"),
    ...controlTimeout("The faults may have been set."),
  },
  consequence: "The faults were not changed.",
  run: async (context, values) => (await import("./sandbox.ts")).setFaults(context, values),
});

const reset = command({
  summary: "delete the running sandbox's links, payments, deliveries, requests and faults",
  examples: ["paylink sandbox reset", "paylink sandbox reset --json"],
  flags: controlTimeout("The sandbox may have been emptied."),
  consequence: "Nothing was deleted.",
  run: async (context) => (await import("./sandbox.ts")).resetSandbox(context),
});

export const sandbox = command({
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
  commands: { advance, "rotate-key": rotateKey, fail, reset },
});
