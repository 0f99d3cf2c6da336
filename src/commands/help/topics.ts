/** Shows the topics of `paylink help` that do not belong to one command. */
import type { Context, Output } from "../../context.ts";
import { renderTable } from "../../render/table.ts";
import { SETTING_KEYS } from "../../settings/setting-table.ts";
import { explainSetting } from "../setting-help.ts";
import { wrap } from "../../render/wrap.ts";
import { CI } from "./ci.ts";
import { DECISIONS } from "./decisions.ts";
import { ENVIRONMENT } from "./environment.ts";
import { PRODUCTION } from "./production.ts";
import { MEANINGS } from "./reasons.ts";
import { describeErrorCodes, describeExitCodes, describeSettings } from "./program-reference.ts";
import { showSections } from "./sections.ts";
import { RECIPES, WEBHOOK_OPTIONS, WEBHOOKS_INTRODUCTION, WEBHOOKS_NOTES } from "./webhook-recipes.ts";

const TOPICS = {
  errors: showErrors,
  reasons: showReasons,
  settings: showSettings,
  environment: showEnvironment,
  webhooks: showWebhooks,
  production: (out: Output) => showSections(out, PRODUCTION),
  decisions: showDecisions,
  ci: (out: Output) => showSections(out, CI),
} as const;
export type Topic = keyof typeof TOPICS;

export async function showTopic({ out }: Context, topic: Topic): Promise<number> {
  TOPICS[topic](out);
  return 0;
}

function showErrors(out: Output): void {
  const [exitCodes, errorCodes] = [describeExitCodes(), describeErrorCodes()];
  if (out.json) return out.data(JSON.stringify({ exitCodes, errorCodes }));
  out.lines([
    "Exit codes:",
    indented(
      exitCodes.map(({ code, meaning }) => [String(code), meaning]),
      out.lineWidth,
    ),
    wrap("\nError codes, each with its exit code; --json gives them as error.code:", out.lineWidth),
    indented(
      errorCodes.map(({ code, exitCode, meaning }) => [code, String(exitCode), meaning]),
      out.lineWidth,
    ),
  ]);
}

function showReasons(out: Output): void {
  if (out.json) return out.data(JSON.stringify(MEANINGS));
  out.lines([
    wrap(
      "Why a webhook is refused, in the order of the checks; the first reason found is reported.",
      out.lineWidth,
    ),
    wrap(
      "paylink verify explains one webhook: verify --event <id>, or verify with a captured request.\n",
      out.lineWidth,
    ),
    indented(Object.entries(MEANINGS), out.lineWidth),
  ]);
}

function showSettings(out: Output): void {
  if (out.json) return out.data(JSON.stringify({ settings: describeSettings() }));
  const intro =
    "Settings of a profile. A flag comes first, then the environment variable, the profile, the service, and the default. paylink config list shows the values in force.\n";
  out.lines([wrap(intro, out.lineWidth), SETTING_KEYS.map(explainSetting).join("\n")]);
}

function showEnvironment(out: Output): void {
  if (out.json) return out.data(JSON.stringify(ENVIRONMENT));
  out.lines([
    wrap("Environment variables. A flag overrides them, and they override the profile:", out.lineWidth),
    indented(Object.entries(ENVIRONMENT), out.lineWidth),
  ]);
}

function showWebhooks(out: Output): void {
  if (out.json)
    return out.data(JSON.stringify({ options: Object.fromEntries(WEBHOOK_OPTIONS), recipes: RECIPES }));
  const paragraphs = (texts: readonly string[]) => texts.flatMap((text) => [wrap(text, out.lineWidth), ""]);
  out.lines([
    ...paragraphs(WEBHOOKS_INTRODUCTION),
    "Options:",
    indented(WEBHOOK_OPTIONS, out.lineWidth),
    "",
    ...paragraphs(WEBHOOKS_NOTES),
    ...Object.values(RECIPES),
  ]);
}

function showDecisions(out: Output): void {
  if (out.json) return out.data(JSON.stringify(DECISIONS));
  const intro = "What paylink and its sandbox do where the specification of the service is silent:\n";
  const decisions = Object.entries(DECISIONS).map(
    ([open, decision]) => `  ${out.paint.bold(open)}\n      ${wrap(decision, out.lineWidth - 6, 6)}`,
  );
  out.lines([wrap(intro, out.lineWidth), decisions.join("\n")]);
}

/** The last column holds sentences, which wrap below their own beginning. */
function indented(rows: readonly (readonly string[])[], width: number): string {
  const heads = rows.map((row) => row.slice(0, -1).map((text) => ({ text })));
  const lines = renderTable(heads).split("\n");
  const column = Math.max(...lines.map(({ length }) => length)) + 4;
  return rows
    .map(
      (row, index) =>
        `  ${(lines[index] ?? "").padEnd(column - 4)}  ${wrap(row.at(-1) ?? "", width - column, column)}`,
    )
    .join("\n");
}
