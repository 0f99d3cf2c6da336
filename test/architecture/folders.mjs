/** The folders of `src`: what belongs in each, and what it may import. CONTRIBUTING shows the same table. */

/**
 * @typedef {object} Folder
 * @property {string} holds
 * @property {readonly string[]} mayImport Besides itself: folders, files of folders, and packages.
 */

/** @type {Readonly<Record<string, Folder>>} */
export const FOLDERS = {
  domain: {
    holds: "the nouns of the specification: links, records, references, money, errors",
    mayImport: ["zod/mini", "lossless-json", "big.js", "currency-codes"],
  },
  http: {
    holds: "HTTP messages as values; the only place that opens sockets",
    mayImport: [
      "domain",
      "undici",
      "node:http",
      "node:https",
      "node:net",
      "node:os",
      "node:process",
      "node:v8",
      "node:zlib",
    ],
  },
  signatures: {
    holds: "RFC 9421 and RFC 9530, pure and without knowledge of payments",
    mayImport: ["http/message", "structured-headers", "node:crypto", "node:zlib"],
  },
  api: {
    holds: "the client of the service",
    mayImport: ["domain", "http/message", "http/exchange", "store/settings/in-force", "node:tls"],
  },
  account: {
    holds: "the checks of an account that `login` and `status` share",
    mayImport: [
      "domain",
      "api/client",
      "api/tokens",
      "receiver/webhook-keys",
      "signatures/key-rules",
      "signatures/policy",
      "signatures/verification-key",
      "store/settings/in-force",
      "store/settings/profile",
      "store/settings/setting-table",
    ],
  },
  requests: {
    holds: "the request for a payment link, from flags, files and settings",
    mayImport: ["domain", "store/settings/in-force", "store/settings/setting-table"],
  },
  receiver: {
    holds: "a webhook from its bytes to a verdict, a record and an event",
    mayImport: [
      "domain",
      "http/message",
      "http/exchange",
      "http/raw-request",
      "signatures",
      "prom-client",
      "node:zlib",
      "node:crypto",
    ],
  },
  sandbox: {
    holds: "the simulated service, which shares no code with the receiver",
    mayImport: [
      "domain",
      "http/message",
      "http/exchange",
      "signatures",
      "hono",
      "hono/html",
      "uqr",
      "zod/mini",
      "webhooks/signature-form",
      "webhooks/signed-webhook",
      "node:crypto",
    ],
  },
  webhooks: {
    holds: "sample and tampered webhooks, and the cases that an endpoint is checked with",
    mayImport: ["domain", "http/message", "http/exchange", "signatures", "node:crypto"],
  },
  bulk: {
    holds: "lists of links: the rows, the run that sends each row once, the results",
    mayImport: [
      "domain",
      "api/refusals",
      "api/retries",
      "http/exchange",
      "http/message",
      "store/journal",
      "csv-parse",
      "csv-stringify",
      "p-limit",
      "node:crypto",
      "node:fs",
      "node:fs/promises",
      "node:path",
      "node:stream",
      "node:stream/promises",
    ],
  },
  store: {
    holds: "settings, journals and databases on disk",
    mayImport: [
      "domain",
      "http/message",
      "signatures/verdict",
      "receiver/event-store",
      "receiver/events",
      "sandbox/customer-details",
      "sandbox/ledger-types",
      "sandbox/links",
      "conf",
      "env-paths",
      "zod/mini",
      "node:crypto",
      "node:fs",
      "node:module",
      "node:path",
      "node:timers/promises",
      "node:util",
      "node:worker_threads",
    ],
  },
  render: { holds: "values as text, pure", mayImport: ["domain", "http/message", "uqr"] },
  terminal: {
    holds: "effects on the terminal",
    mayImport: [
      "domain",
      "render",
      "context",
      "http/message",
      "http/exchange",
      "chalk",
      "@inquirer/prompts",
      "open",
      "node:child_process",
      "node:events",
      "node:fs",
      "node:fs/promises",
      "node:os",
      "node:stream",
      "node:tty",
    ],
  },
};

/**
 * The files beside the folders; `main` may import everything.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const FILES = {
  context: [
    "api/client",
    "bulk/journals",
    "domain",
    "http/exchange",
    "receiver/event-store",
    "render/paint",
    "sandbox/ledger-types",
    "store",
  ],
  entry: ["main", "terminal/channel", "env-paths", "node:module"],
  program: ["commands", "domain", "@commander-js/extra-typings"],
  run: [
    "commands/corrections",
    "commands/global-flags",
    "context",
    "domain",
    "program",
    "render/error-message",
    "@commander-js/extra-typings",
  ],
  services: [
    "api/client-from-settings",
    "api/sandbox-control",
    "api/stopped-sandbox",
    "bulk/journals",
    "context",
    "domain",
    "http/exchange",
    "store",
    "node:fs",
    "node:fs/promises",
    "node:os",
    "node:path",
  ],
};

/** Commands may import everything but each other and these. */
export const COMMANDS = {
  holds: "one folder for each command: `command.ts` declares it, `<name>.ts` runs it",
  mayNotImport: [
    "http/send",
    "http/serve",
    "store/settings/settings",
    "terminal",
    "main",
    "program",
    "undici",
  ],
  /** Files beside the commands that all of them may import. */
  shared: [
    "commands/confirm",
    "commands/corrections",
    "commands/declare",
    "commands/flag-reader",
    "commands/flag-values",
    "commands/forward-flags",
    "commands/global-flags",
    "commands/policy-flags",
    "commands/request-flags",
    "commands/running-listener",
    "commands/setting-help",
    "commands/transaction-command",
    "commands/usage-errors",
    "commands/local-services",
  ],
};
