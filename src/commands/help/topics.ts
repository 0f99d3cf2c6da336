/** The topics of `paylink help` that do not belong to one command: what each prints, as JSON and for people. */
import { gunzipSync } from "node:zlib";
import type { Context, Output } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { paylink } from "../../domain/hint.ts";
import { nearest } from "../../values/parse-result.ts";
import { REFUSAL_MEANINGS } from "../../domain/reasons.ts";
import { BROKER_VARIABLES } from "../../receiver/brokers/addresses.ts";
import { AGENT_VARIABLES } from "../../settings/coding-agents.ts";
import { readOwnFile } from "../../own-files.ts";
import { renderHint } from "../../render/hint.ts";
import { renderTable, wrap } from "../../render/layout.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey } from "../../settings/setting-table.ts";
import { fitGuide } from "./guide-text.ts";
import { describeErrorCodes, describeExitCodes, describeSettings } from "./program-reference.ts";
import ci from "../../texts/guides/ci.txt?raw";
import live from "../../texts/guides/live.txt?raw";
import production from "../../texts/guides/production.txt?raw";
import webhooks from "../../texts/guides/webhooks.txt?raw";
import containerfile from "../../texts/production/Containerfile?raw";
import alerts from "../../texts/production/alerts.yml?raw";
import dashboard from "../../texts/production/dashboard.json?raw";
import kubernetes from "../../texts/production/kubernetes.yml?raw";
import unit from "../../texts/production/paylink.service?raw";
import nightlyJob from "../../texts/production/reconcile.yml?raw";
import nightlyUnit from "../../texts/production/paylink-reconcile.service?raw";
import nightlyTimer from "../../texts/production/paylink-reconcile.timer?raw";
import go from "../../texts/receivers/receiver.go?raw";
import php from "../../texts/receivers/receiver.php?raw";
import python from "../../texts/receivers/receiver.py?raw";
import ruby from "../../texts/receivers/receiver.rb?raw";
import java from "../../texts/receivers/Receiver.java?raw";
import elysia from "../../texts/recipes/elysia.mjs?raw";
import express from "../../texts/recipes/express.mjs?raw";
import fastify from "../../texts/recipes/fastify.mjs?raw";
import h3 from "../../texts/recipes/h3.mjs?raw";
import hono from "../../texts/recipes/hono.mjs?raw";
import koa from "../../texts/recipes/koa.mjs?raw";
import lambda from "../../texts/recipes/lambda.mjs?raw";
import nest from "../../texts/recipes/nest.ts?raw";
import next from "../../texts/recipes/next.mjs?raw";
import node from "../../texts/recipes/node.mjs?raw";
import bookings from "../../texts/recipes/orders.mjs?raw";
import reactRouter from "../../texts/recipes/react-router.mjs?raw";
import sveltekit from "../../texts/recipes/sveltekit.mjs?raw";
import workers from "../../texts/recipes/workers.mjs?raw";

interface TopicContent {
  readonly json: object;
  readonly parts: readonly Part[];
  /** What `help <topic> <name>` prints by itself. */
  readonly files?: Readonly<Record<string, SavedFile>>;
}

/** A paragraph, which is wrapped, or anything else. */
type Part = string | ((out: Output) => string);

/** Titled parts of a text. */
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

/** Ready to save; its first lines say how. */
interface SavedFile<Text = string | (() => string | Promise<string>)> {
  readonly holds: string;
  readonly text: Text;
}

/** What `paylink help webhooks <name>` prints: a receiver for each framework, and for each language without the library. */
const RECEIVERS = {
  orders: {
    holds: "orders.mjs: what each receiver in JavaScript does with a verified webhook",
    text: bookings,
  },
  node: { holds: "node.mjs: Node without a framework", text: node },
  express: { holds: "express.mjs: Express 5", text: express },
  fastify: { holds: "fastify.mjs: Fastify", text: fastify },
  hono: { holds: "hono.mjs: Hono, on Node, Bun or Deno", text: hono },
  h3: { holds: "paylink.post.js: Nuxt, Nitro and h3", text: h3 },
  elysia: { holds: "elysia.mjs: Elysia, on Bun or Node", text: elysia },
  koa: { holds: "koa.mjs: Koa", text: koa },
  nest: { holds: "paylink.controller.ts: NestJS", text: nest },
  next: { holds: "route.js: Next.js", text: next },
  "react-router": { holds: "paylink.js: React Router and Remix", text: reactRouter },
  sveltekit: { holds: "+server.js: SvelteKit", text: sveltekit },
  workers: { holds: "workers.mjs: Cloudflare Workers", text: workers },
  lambda: {
    holds: "lambda.mjs: AWS Lambda behind API Gateway, a function URL or a load balancer",
    text: lambda,
  },
  php: { holds: "receiver.php: PHP 8.2 or later", text: php },
  python: { holds: "receiver.py: Python 3.11 or later, with the package cryptography", text: python },
  go: { holds: "receiver.go: Go 1.19 or later", text: go },
  ruby: { holds: "receiver.rb: Ruby 3.1 or later, with the gem webrick", text: ruby },
  java: { holds: "Receiver.java: Java 17 or later", text: java },
} satisfies Readonly<Record<string, SavedFile>>;

/** A file for this version of paylink. */
const pinned = (text: string): string => text.replaceAll("VERSION", PAYLINK_VERSION);

const PRODUCTION_FILES = {
  systemd: { holds: "paylink.service: a systemd unit", text: unit },
  container: { holds: "Containerfile: a container image", text: pinned(containerfile) },
  kubernetes: { holds: "kubernetes.yml: a Deployment with its Service", text: pinned(kubernetes) },
  "reconcile-systemd": {
    holds: "paylink-reconcile.service: a unit that reconciles, and fails where records differ",
    text: nightlyUnit,
  },
  "reconcile-timer": { holds: "paylink-reconcile.timer: runs it each night", text: nightlyTimer },
  "reconcile-kubernetes": {
    holds: "reconcile.yml: a CronJob that runs reconcile each night",
    text: pinned(nightlyJob),
  },
  alerts: { holds: "alerts.yml: alerting rules for Prometheus", text: alerts },
  dashboard: { holds: "dashboard.json: a Grafana dashboard", text: dashboard },
} satisfies Readonly<Record<string, SavedFile>>;

/** What the build puts beside the program. */
const ownFile = (holds: string, file: string): SavedFile => ({
  holds,
  text: () => readOwnFile(file).toString(),
});
const OWN_FILES = {
  man: {
    holds: "the manual page",
    text: () => gunzipSync(readOwnFile("paylink.1.gz")).toString(),
  },
  skill: ownFile("the skill for coding agents", "SKILL.md"),
  openapi: {
    holds: "the API of the service, as OpenAPI",
    text: async () => (await import("../../sandbox/openapi/document.ts")).openApiDocument(),
  },
  changelog: ownFile("what each version does", "CHANGELOG.md"),
  notices: ownFile("the licences of the software in paylink", "THIRD-PARTY-NOTICES.txt"),
  sbom: ownFile("the packages in paylink, as CycloneDX", "sbom.cdx.json"),
} satisfies Readonly<Record<string, SavedFile>>;

/** Every environment variable that paylink reads. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PAYLINK_PROFILE: "the profile to use",
  ...Object.fromEntries(
    SETTING_KEYS.flatMap((key) => {
      const { variable, means } = SETTINGS[key];
      return variable === undefined ? [] : [[variable, means]];
    }),
  ),
  PGPASSWORD:
    "the password of the PostgreSQL database in PAYLINK_DB; or PGPASSFILE, or ~/.pgpass. What the URL leaves open is read from the other variables of psql, such as PGSSLMODE",
  ...BROKER_VARIABLES,
  PAYLINK_HOME: "one folder for settings and data, instead of the platform's folders",
  NODE_DISABLE_COMPILE_CACHE:
    "1 turns off the compile cache (Node 22 and later), so that each run starts slower",
  HTTPS_PROXY: "the http:// or https:// proxy for https requests; ALL_PROXY and HTTP_PROXY are not read",
  NO_PROXY:
    "hosts, domains and ranges of addresses (10.0.0.0/8) that are reached without the proxy; this machine always is",
  NO_COLOR: "no colours",
  FORCE_COLOR: "colours even without a terminal",
  CI: "never prompt",
  ...Object.fromEntries(
    Object.entries(AGENT_VARIABLES).map(([name, agent]) => [name, `never prompt; set by ${agent}`]),
  ),
};

/** What a setting is for, its default and variable, and a command that sets it, which stays on one line to be copied. */
const explainSetting =
  (key: SettingKey): Part =>
  ({ lineWidth }) => {
    const { means, variable, default: preset, example } = SETTINGS[key];
    return [
      `  ${wrap(`${key}: ${means}`, lineWidth - 6, 6)}`,
      ...(preset === undefined ? [] : [`      default: ${preset}`]),
      ...(variable === undefined ? [] : [`      variable: ${variable}`]),
      example === undefined
        ? "      a secret: paylink login stores it, and no command prints it"
        : `      ${renderHint([paylink`config set ${key} ${example}`])}`,
    ].join("\n");
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
    json: REFUSAL_MEANINGS,
    parts: [
      "Why a webhook is rejected, in the order of the checks; the first reason found is reported.",
      "paylink verify explains one webhook: verify --event <id>, or verify with a captured request.",
      "",
      rows(Object.entries(REFUSAL_MEANINGS)),
    ],
  }),
  settings: () => ({
    json: { settings: describeSettings() },
    parts: [
      "Settings of a profile. A flag comes first, then the environment variable, the profile, the service, and the default. A profile that --profile names comes before the environment. White space and line ends around a value are removed. paylink config list shows the values in effect.",
      "",
      ...SETTING_KEYS.map(explainSetting),
    ],
  }),
  environment: () => ({
    json: ENVIRONMENT,
    parts: [
      "Environment variables. A flag overrides them, and so does a profile that --profile names. They override the current profile, but a stored secret goes only to the addresses that it was stored for: beside PAYLINK_BASE_URL, give PAYLINK_TOKEN too, or PAYLINK_CLIENT_ID, PAYLINK_CLIENT_SECRET and PAYLINK_TOKEN_URL. Where both are set, the client credentials are used. An empty variable counts as not set, with two exceptions. listen --ack stored and --admin refuse an empty PAYLINK_DB. An empty PAYLINK_PROFILE, or an empty variable of an account, is an error where the current profile is not known to be for tests: a job without its secrets must not use that one instead. A variable whose name is nearly one of these is an error there too.",
      rows(Object.entries(ENVIRONMENT)),
    ],
  }),
  webhooks: () => guide("webhooks", webhooks, RECEIVERS),
  production: () => guide("production", production, PRODUCTION_FILES),
  live: () => guide("live", live),
  ci: () => guide("ci", ci),
  files: () => ({
    json: Object.fromEntries(Object.entries(OWN_FILES).map(([name, { holds }]) => [name, holds])),
    parts: ["Files that come with paylink, to save:", fileRows("files", OWN_FILES)],
    files: OWN_FILES,
  }),
} as const satisfies Readonly<Record<string, () => TopicContent>>;

type Topic = keyof typeof TOPICS;
export const TOPIC_NAMES = Object.keys(TOPICS) as Topic[];
/** What `help` prints of a topic by itself. */
export const FILE_NAMES = [PRODUCTION_FILES, RECEIVERS, OWN_FILES].flatMap((files) => Object.keys(files));

/** Shows a topic, or one file of it. Throws `usage`. */
export async function showTopic({ out }: Context, topic: Topic, name?: string): Promise<number> {
  const { json, parts, files = {} }: TopicContent = TOPICS[topic]();
  if (name !== undefined) {
    const file = Object.hasOwn(files, name) ? files[name] : undefined;
    if (file === undefined) throw unknownFile(topic, name, Object.keys(files));
    const text = typeof file.text === "string" ? file.text : await file.text();
    out.result({ [name]: text }, text.trimEnd());
    return 0;
  }
  out.line(json, () =>
    parts.map((part) => (typeof part === "string" ? wrap(part, out.lineWidth) : part(out))).join("\n"),
  );
  return 0;
}

function unknownFile(topic: Topic, name: string, names: readonly string[]): PaylinkError {
  const near = nearest(name, names);
  const known = names.length === 0 ? "has no parts" : `has these parts: ${names.join(", ")}`;
  const meant = near === undefined ? "" : ` Did you mean ${near}?`;
  return new PaylinkError("usage", `The topic ${topic} ${known} (got "${name}").${meant}`);
}

function guide(
  topic: string,
  text: string,
  files: Readonly<Record<string, SavedFile<string>>> = {},
): TopicContent {
  const sections = guideOf(text);
  const parts = Object.values(sections).map(
    ({ title, text: body }, index): Part =>
      ({ paint, lineWidth }) =>
        `${index === 0 ? "" : "\n\n"}${paint.bold(title)}\n\n${fitGuide(body, lineWidth)}`,
  );
  const names = Object.entries(files);
  if (names.length === 0) return { json: sections, parts };
  const heading: Part = ({ paint }) => `\n\n${paint.bold("Files to save")}\n`;
  return {
    json: { ...sections, files: Object.fromEntries(names.map(([name, file]) => [name, file.text])) },
    parts: [...parts, heading, fileRows(topic, files)],
    files,
  };
}

const fileRows = (topic: string, files: Readonly<Record<string, SavedFile>>): Part =>
  rows(Object.entries(files).map(([name, { holds }]) => [`paylink help ${topic} ${name}`, holds]));

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
