/** The topics of `paylink help` that do not belong to one command: their texts, and what each prints, as JSON and for people. */
import type { Context, Output } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { nearest } from "../../domain/parse-result.ts";
import { MEANINGS } from "../../domain/reasons.ts";
import { BROKER_VARIABLES } from "../../domain/brokers.ts";
import { AGENT_VARIABLES } from "../../domain/coding-agents.ts";
import { readOwnFile } from "../../own-files.ts";
import { renderTable, wrap } from "../../render/layout.ts";
import { SETTING_KEYS, SETTINGS } from "../../settings/setting-table.ts";
import { explainSetting } from "../help-layout.ts";
import { describeErrorCodes, describeExitCodes, describeSettings } from "./program-reference.ts";
import ci from "./guides/ci.txt?raw";
import production from "./guides/production.txt?raw";
import containerfile from "./production/Containerfile?raw";
import alerts from "./production/alerts.yml?raw";
import dashboard from "./production/dashboard.json?raw";
import kubernetes from "./production/kubernetes.yml?raw";
import unit from "./production/paylink.service?raw";
import { RECEIVERS, WEBHOOK_OPTIONS, WEBHOOKS_INTRODUCTION, WEBHOOKS_NOTES } from "./webhooks.ts";

interface Explanation {
  readonly json: unknown;
  readonly parts: readonly Part[];
  /** What `help <topic> <name>` prints by itself, ready to save. */
  readonly files?: Readonly<Record<string, string | (() => string)>>;
}

/** A paragraph, which is wrapped, or anything else. */
type Part = string | ((out: Output) => string);

/** Titled parts of a text. They are not wrapped: people copy files and scripts from them. */
type Guide = Readonly<Record<string, { readonly title: string; readonly text: string }>>;

/** Each part begins with a line `== name: title`. */
const guideOf = (file: string): Guide =>
  Object.fromEntries(
    `\n${file.trim()}`
      .split(/\n+== /)
      .slice(1)
      .map((part) => {
        const [, name = "", title = "", text = ""] = /^(\w+): (.*)\n+([\s\S]*)$/.exec(part) ?? [];
        return [name, { title, text }];
      }),
  );

/** How to test payments in continuous integration. */
const CI = guideOf(ci);

/** How to run `listen` as a service of a machine or in a container, and what to run it with. */
const PRODUCTION = guideOf(production);
const PRODUCTION_FILES = {
  systemd: unit,
  container: containerfile,
  kubernetes,
  /** Rules of Prometheus. */
  alerts,
  /** Of Grafana. */
  dashboard,
};

/** What the build puts beside the program. */
const OWN_FILES = {
  man: { file: "paylink.1", holds: "the manual page" },
  skill: { file: "SKILL.md", holds: "the skill for coding agents" },
  openapi: { file: "openapi.json", holds: "the interface of the service, as OpenAPI" },
  changelog: { file: "CHANGELOG.md", holds: "what changed in each version" },
  notices: { file: "THIRD-PARTY-NOTICES.txt", holds: "the licences of the software in paylink" },
  sbom: { file: "sbom.cdx.json", holds: "the packages in paylink, as CycloneDX" },
};

/** What paylink does where the specification of the service is silent. */
const DECISIONS: Readonly<Record<string, string>> = {
  "access token":
    "OAuth 2.0 client credentials as form fields, multipart form data or HTTP Basic. The sandbox serves POST /oauth/token; its tokens are valid for an hour.",
  "reading a transaction": "GET /v1/transactions/{uti}, or the address in the setting transactionUrl.",
  "verification key":
    "The one that you configure: PEM, certificate, JWK, JWKS or the URL of one. The sandbox serves /.well-known/jwks.json.",
  "signature cover":
    "The sandbox signs content-digest, content-length and content-type, or what --cover names. The receiver accepts any cover that satisfies its policy.",
  "created, keyid and alg of a signature":
    "The sandbox sends them. The receiver does not require them; --require-created requires created.",
  "SHA-512 digests": "Accepted, as RFC 9530 allows, with a warning: the service supports SHA-256 only.",
  "error bodies":
    "The sandbox answers application/problem+json (RFC 9457) with errors, and with the code and message of the service. The client reads any common shape, and --json gives the service's code in error.details.",
  "link status":
    "active, viewed, attempted, paid (after an accepted payment), expired or cancelled. A reusable link never becomes paid.",
  "a declined or cancelled one-time link":
    "It becomes attempted. It can still be paid or cancelled, but no longer updated.",
  "retries of a webhook":
    "Any 2xx within 10 s means delivered. Otherwise the sandbox tries again after 5 s, 30 s, 2 min, 10 min and 1 h, each time with a fresh signature. Then the delivery has failed, and can be sent again from the dashboard. Deliveries survive a kill of the sandbox and arrive at least once.",
  "two links with one invoiceId":
    "The sandbox accepts both. With --duplicate-invoices refuse it answers 422 to the second at a terminal.",
  "where the sandbox posts": "To loopback and the hosts of --allow-host, unless --allow-remote is given.",
  "reference of a reusable link":
    "<invoiceId>-<9 of A-Z0-9>. The reader accepts one hyphen or two between them.",
  "amount 0 of a one-time SALE": "Sent, with a warning.",
  "bounds as string or number": "Sent as strings; both are read.",
  "names of the address fields": "Sent as in the field list (address1, postalcode); both spellings are read.",
  "a record with both outcome flags true":
    "Shown as UNCLEAR, with the reason; so is a missing flag, a flag of another type, or a status other than Complete.",
  "negative amounts": "Read like any other number: the specification says number.",
  "a rotated signing key": "The sandbox serves it for another 24 h.",
  "a sandbox with --clock":
    "The clock sets the time of payments, expiries and retries. A signature is created at the time of the machine: receivers would refuse any other.",
  "--reference of listen and events": "Matches every reference that contains the text.",
  "a request that may have arrived":
    "Never sent again by itself, unless idempotencyHeader is set: the command ends with exit code 6. After a refused connection, a DNS or TLS failure, 429, or 503 with the service's own error code, it is sent again up to three times.",
  secrets:
    "Stored in the settings file, which only its owner can read (mode 0600). They are in no argument, output or log. A token is sent over https only, except to this machine, and never to the target of a redirect.",
  "the sandbox's own access":
    "It binds to loopback and checks Host. The controls of its dashboard work only at the address that it prints, which contains a secret.",
  "a long Retry-After":
    "If it is longer than the rest of --timeout (30 s by default), the command does not wait: it ends with exit code 5 and says so. bulk waits as long as the service asks.",
  "a column of bulk that means a field":
    "Refused until it has the field's name or a --map, whatever its case, spaces and marks: customer, Invoice no., E-mail, First name, ZIP, Price. Other columns are copied to the results and not sent.",
  "rows of bulk that ask for the same payment":
    "Refused, with their lines, unless --allow-duplicates is given: then each of them is sent once. One order number on different rows is a warning.",
  "amounts and dates of a spreadsheet":
    "10,50 is read with --decimal-comma only. 31.12.2026, 12/31/2026 and 2026-12-31 are the end of that day, local time; 03/04/2026 could mean two days, so it is refused.",
  "a list that bulk has sent":
    "Recognised at one service by what its rows ask for (customer, amount and invoice, but not expiry or callback), however the address of the service is spelled. No row is sent twice without --again.",
};

/** Every environment variable that paylink reads. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PAYLINK_PROFILE: "the profile to use",
  ...Object.fromEntries(
    SETTING_KEYS.flatMap((key) => {
      const { variable, means } = SETTINGS[key];
      return variable === undefined ? [] : [[variable, means]];
    }),
  ),
  PGPASSWORD: "the password of the PostgreSQL database in PAYLINK_DB; or PGPASSFILE, or ~/.pgpass",
  ...BROKER_VARIABLES,
  PAYLINK_HOME: "one folder for settings and data, instead of the platform's folders",
  NODE_DISABLE_COMPILE_CACHE:
    "1 turns off the compile cache (Node 22 and later), so that each run starts slower",
  HTTPS_PROXY: "the proxy for https requests",
  NO_PROXY: "the hosts that are reached without the proxy",
  NO_COLOR: "no colours",
  FORCE_COLOR: "colours even without a terminal",
  CI: "never prompt",
  ...Object.fromEntries(
    Object.entries(AGENT_VARIABLES).map(([name, agent]) => [name, `never prompt; set by ${agent}`]),
  ),
};

const TOPICS = {
  errors: () => {
    const [exitCodes, errorCodes] = [describeExitCodes(), describeErrorCodes()];
    return {
      json: { exitCodes, errorCodes },
      parts: [
        "Exit codes:",
        rows(exitCodes.map(({ code, meaning }) => [String(code), meaning])),
        "",
        "Error codes, each with its exit code; --json gives them as error.code:",
        rows(errorCodes.map(({ code, exitCode, meaning }) => [code, String(exitCode), meaning])),
      ],
    };
  },
  reasons: () => ({
    json: MEANINGS,
    parts: [
      "Why a webhook is refused, in the order of the checks; the first reason found is reported.",
      "paylink verify explains one webhook: verify --event <id>, or verify with a captured request.",
      "",
      rows(Object.entries(MEANINGS)),
    ],
  }),
  settings: () => ({
    json: { settings: describeSettings() },
    parts: [
      "Settings of a profile. A flag comes first, then the environment variable, the profile, the service, and the default. paylink config list shows the values in force.",
      "",
      ...SETTING_KEYS.map((key): Part => ({ lineWidth }) => {
        const lines = explainSetting(key).split("\n");
        // A command to copy stays on one line.
        return lines
          .map((line) => line.replace(/(?<=^ +)(?!paylink |[ ]).*/, (text) => wrap(text, lineWidth - 6, 6)))
          .join("\n");
      }),
    ],
  }),
  environment: () => ({
    json: ENVIRONMENT,
    parts: [
      "Environment variables. A flag overrides them, and they override the profile:",
      rows(Object.entries(ENVIRONMENT)),
    ],
  }),
  webhooks: () => ({
    json: { options: WEBHOOK_OPTIONS, recipes: textsOf(RECEIVERS) },
    parts: [
      ...WEBHOOKS_INTRODUCTION.flatMap((paragraph) => [paragraph, ""]),
      "Options:",
      rows(Object.entries(WEBHOOK_OPTIONS)),
      "",
      ...WEBHOOKS_NOTES.flatMap((paragraph) => [paragraph, ""]),
      "Files to save, each a whole receiver; its first lines say how to start it. Those in JavaScript need orders.mjs too:",
      rows(Object.entries(RECEIVERS).map(([name, { holds }]) => [`paylink help webhooks ${name}`, holds])),
    ],
    files: textsOf(RECEIVERS),
  }),
  production: () => ({
    json: { ...PRODUCTION, files: PRODUCTION_FILES },
    parts: [
      ...guide(PRODUCTION).parts,
      ({ paint }) => `\n\n${paint.bold("Files to save")}\n`,
      rows(Object.keys(PRODUCTION_FILES).map((name) => [`paylink help production ${name}`])),
    ],
    files: PRODUCTION_FILES,
  }),
  decisions: () => ({
    json: DECISIONS,
    parts: [
      "What paylink and its sandbox do where the specification of the service is silent:",
      "",
      ...Object.entries(DECISIONS).map(
        ([open, decision]): Part =>
          ({ paint, lineWidth }) =>
            `  ${paint.bold(open)}\n      ${wrap(decision, lineWidth - 6, 6)}`,
      ),
    ],
  }),
  ci: () => guide(CI),
  files: () => ({
    json: Object.fromEntries(Object.entries(OWN_FILES).map(([name, { holds }]) => [name, holds])),
    parts: [
      "Files that come with paylink, to save:",
      rows(Object.entries(OWN_FILES).map(([name, { holds }]) => [`paylink help files ${name}`, holds])),
    ],
    files: Object.fromEntries(
      Object.entries(OWN_FILES).map(([name, { file }]) => [name, () => readOwnFile(file).toString()]),
    ),
  }),
} as const satisfies Readonly<Record<string, () => Explanation>>;
export type Topic = keyof typeof TOPICS;
export type TopicFile = keyof typeof PRODUCTION_FILES | keyof typeof RECEIVERS | keyof typeof OWN_FILES;

/** Shows a topic, or one file of it. Throws `usage`. */
export async function showTopic({ out }: Context, topic: Topic, name?: string): Promise<number> {
  const { json, parts, files = {} }: Explanation = TOPICS[topic]();
  if (name !== undefined) {
    const file = Object.hasOwn(files, name) ? files[name] : undefined;
    if (file === undefined) throw unknownFile(topic, name, Object.keys(files));
    const text = typeof file === "string" ? file : file();
    out.data(out.json ? JSON.stringify({ [name]: text }) : text.trimEnd());
    return 0;
  }
  if (out.json) out.lines([JSON.stringify(json)]);
  else out.lines(parts.map((part) => (typeof part === "string" ? wrap(part, out.lineWidth) : part(out))));
  return 0;
}

function unknownFile(topic: Topic, name: string, names: readonly string[]): PaylinkError {
  const near = nearest(name, names);
  const known = names.length === 0 ? "has no parts" : `has these parts: ${names.join(", ")}`;
  const meant = near === undefined ? "" : ` Did you mean ${near}?`;
  return new PaylinkError("usage", `The topic ${topic} ${known} (got "${name}").${meant}`);
}

const guide = (sections: Guide) => ({
  json: sections,
  parts: Object.values(sections).map(
    ({ title, text }, index): Part =>
      ({ paint }) =>
        `${index === 0 ? "" : "\n\n"}${paint.bold(title)}\n\n${text}`,
  ),
});

const textsOf = (files: Readonly<Record<string, { readonly text: string }>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, { text }]) => [name, text]));

/** A table, whose last column holds sentences, which wrap below their own beginning. */
const rows =
  (cells: readonly (readonly string[])[]): Part =>
  ({ lineWidth }) => {
    const heads = renderTable(cells.map((row) => row.slice(0, -1).map((text) => ({ text })))).split("\n");
    const column = Math.max(...heads.map(({ length }) => length)) + 4;
    return cells
      .map((row, index) => {
        const head = (heads[index] ?? "").padEnd(column - 4);
        return `  ${head}  ${wrap(row.at(-1) ?? "", lineWidth - column, column)}`;
      })
      .join("\n");
  };
