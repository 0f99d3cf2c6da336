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
    mayImport: ["zod/mini", "lossless-json"],
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
      "node:stream/promises",
    ],
  },
  signatures: {
    holds: "RFC 9421 and RFC 9530, pure and without knowledge of payments",
    mayImport: [
      "domain/json",
      "domain/parse-json",
      "domain/reasons",
      "domain/system-reason",
      "http/message",
      "structured-headers",
      "node:crypto",
      "node:zlib",
    ],
  },
  service: {
    holds: "the client of the service, the requests it sends, and the checks of an account",
    mayImport: [
      "domain",
      "http/message",
      "http/exchange",
      "settings/resolved-settings",
      "settings/setting-table",
      "settings/token-files",
    ],
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
      "@nats-io/transport-node",
      "amqplib",
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
      "structured-headers",
      "check/signed-webhook",
      "check/tamperings",
      "check/tampering-names",
      "render/safe-text",
      "settings/profile",
      "store/database",
      "store/folders",
      "store/group-commit",
      "node:crypto",
      "node:fs",
      "node:path",
    ],
  },
  check: {
    holds: "sample and tampered webhooks, and the cases that an endpoint is checked with",
    mayImport: ["domain", "http/message", "http/exchange", "signatures", "node:crypto"],
  },
  library: {
    holds: "`paylink-webhooks`: the receiver's judgement of one webhook, for applications",
    mayImport: [
      "domain",
      "http/message",
      "http/exchange",
      "receiver/address",
      "receiver/admit",
      "receiver/judge",
      "receiver/webhook-keys",
      "signatures",
      "check/signed-webhook",
      "check/samples",
      "node:crypto",
      "node:fs/promises",
      "node:process",
      "node:util/types",
    ],
  },
  bulk: {
    holds: "lists of links: the rows, what was sent, the run that sends each row once",
    mayImport: [
      "domain",
      "render/safe-text",
      "service/retries",
      "store/database",
      "store/folders",
      "store/group-commit",
      "csv-parse",
      "csv-stringify",
      "p-limit",
      "zod/mini",
      "node:crypto",
      "node:fs",
      "node:fs/promises",
      "node:path",
      "node:stream",
      "node:stream/promises",
    ],
  },
  settings: {
    holds: "the table of settings, the file of the profiles, and the values for a run",
    mayImport: ["domain", "store/folders", "conf", "node:fs", "node:path"],
  },
  events: {
    holds: "the store of what was received: its statements, in SQLite and in PostgreSQL",
    mayImport: [
      "domain",
      "http/message",
      "signatures",
      "receiver/event-store",
      "receiver/events",
      "settings/resolved-settings",
      "store/database",
      "store/group-commit",
      "pg",
      "pg-connection-string",
      "pgpass",
      "zod/mini",
      "node:crypto",
      "node:fs",
      "node:path",
      "node:worker_threads",
    ],
  },
  store: {
    holds: "where files are, SQLite, and commits in groups",
    mayImport: ["domain", "env-paths", "node:fs", "node:module", "node:path", "node:timers/promises"],
  },
  render: {
    holds: "values as text, pure",
    mayImport: [
      "domain",
      "http/message",
      "check/endpoint",
      "receiver/captured",
      "receiver/events",
      "receiver/queue-forwarder",
      "service/checks",
      "settings/resolved-settings",
      "signatures",
      "fast-string-width",
      "uqr",
    ],
  },
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
      "node:stream",
      "node:tty",
    ],
  },
};

/**
 * The files beside the folders; `main` and `open-context` may import everything.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const FILES = {
  context: [
    "http/message",
    "service/client",
    "bulk/import-journals",
    "domain",
    "http/exchange",
    "http/time-limit",
    "receiver/event-store",
    "render/hint",
    "render/paint",
    "sandbox/identity",
    "sandbox/store/ledger",
    "settings",
    "store",
  ],
  entry: ["main", "terminal/channel", "env-paths", "node:module", "node:path", "node:sea"],
  program: ["commands", "domain", "@commander-js/extra-typings"],
  run: ["context", "domain", "program", "render/error-message", "render/hint", "@commander-js/extra-typings"],
  "own-files": ["node:fs", "node:path", "node:sea", "node:worker_threads"],
};

/** Commands may import everything but each other and these. */
export const COMMANDS = {
  holds: "one file or folder for each command: its declaration, and what runs it",
  mayNotImport: [
    "http/send",
    "http/serve",
    "settings/settings-file",
    "terminal",
    "main",
    "program",
    "undici",
  ],
  /** Files beside the commands that all of them may import. */
  shared: [
    "commands/command",

    "commands/account-checks",
    "commands/declare",
    "commands/event-text",
    "commands/flag-values",
    "commands/help-layout",
    "commands/link-output",
    "commands/request-flags",
    "commands/resources",
    "commands/shared-flags",
    "commands/usage-errors",
  ],
};
