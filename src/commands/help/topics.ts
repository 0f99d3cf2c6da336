/** The topics of `paylink help` that do not belong to one command: what each one prints, as JSON and for people. */
import type { Context, Output } from "../../context.ts";
import { MEANINGS } from "../../domain/reasons.ts";
import { AGENT_VARIABLES } from "../../domain/coding-agents.ts";
import { renderTable, wrap } from "../../render/layout.ts";
import { SETTING_KEYS, SETTINGS } from "../../settings/setting-table.ts";
import { explainSetting } from "../setting-help.ts";
import { describeErrorCodes, describeExitCodes, describeSettings } from "./program-reference.ts";
import {
  CI,
  DECISIONS,
  type Guide,
  PRODUCTION,
  RECIPES,
  WEBHOOK_OPTIONS,
  WEBHOOKS_INTRODUCTION,
  WEBHOOKS_NOTES,
} from "./texts.ts";

interface Explanation {
  readonly json: unknown;
  readonly parts: readonly Part[];
}

/** A paragraph, which is wrapped, or anything else. */
type Part = string | ((out: Output) => string);

/** Every environment variable that paylink reads. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PAYLINK_PROFILE: "the profile to use",
  ...Object.fromEntries(
    SETTING_KEYS.flatMap((key) => {
      const { variable, means } = SETTINGS[key];
      return variable === undefined ? [] : [[variable, means]];
    }),
  ),
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
    json: { options: WEBHOOK_OPTIONS, recipes: RECIPES },
    parts: [
      ...WEBHOOKS_INTRODUCTION.flatMap((paragraph) => [paragraph, ""]),
      "Options:",
      rows(Object.entries(WEBHOOK_OPTIONS)),
      "",
      ...WEBHOOKS_NOTES.flatMap((paragraph) => [paragraph, ""]),
      ...Object.values(RECIPES).map((recipe) => () => recipe),
    ],
  }),
  production: () => guide(PRODUCTION),
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
} as const satisfies Readonly<Record<string, () => Explanation>>;
export type Topic = keyof typeof TOPICS;

export async function showTopic({ out }: Context, topic: Topic): Promise<number> {
  const { json, parts }: Explanation = TOPICS[topic]();
  if (out.json) out.lines([JSON.stringify(json)]);
  else out.lines(parts.map((part) => (typeof part === "string" ? wrap(part, out.lineWidth) : part(out))));
  return 0;
}

const guide = (sections: Guide): Explanation => ({
  json: sections,
  parts: Object.values(sections).map(
    ({ title, text }, index): Part =>
      ({ paint }) =>
        `${index === 0 ? "" : "\n\n"}${paint.bold(title)}\n\n${text}`,
  ),
});

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
