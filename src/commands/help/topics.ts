/** Shows the topics of `paylink help` that do not belong to one command. */
import type { Context, Output } from "../../context.ts";
import { FAILURES } from "../../domain/errors.ts";
import { EXIT_CODES } from "../../domain/errors.ts";
import { renderTable } from "../../render/table.ts";
import { SETTING_KEYS, SETTINGS } from "../../store/settings/setting-table.ts";
import { explainSetting } from "../setting-help.ts";
import { wrap } from "../../render/wrap.ts";
import { ENVIRONMENT } from "./environment.ts";
import { PRODUCTION } from "./production.ts";
import { MEANINGS } from "./reasons.ts";

const TOPICS = {
  errors: showErrors,
  reasons: showReasons,
  settings: showSettings,
  environment: showEnvironment,
  production: showProduction,
} as const;
export type Topic = keyof typeof TOPICS;

export async function showTopic({ out }: Context, topic: Topic): Promise<number> {
  TOPICS[topic](out);
  return 0;
}

function showErrors(out: Output): void {
  const exits = Object.entries(EXIT_CODES).map(([code, means]) => ({ code: Number(code), means }));
  const errors = Object.entries(FAILURES).map(([code, { exit, means }]) => ({ code, exit, means }));
  if (out.json) return out.data(JSON.stringify({ exits, errors }));
  out.lines([
    "Exit codes:",
    indented(
      exits.map(({ code, means }) => [String(code), means]),
      out.lineWidth,
    ),
    wrap("\nError codes, each with its exit code; --json gives them as error.code:", out.lineWidth),
    indented(
      errors.map(({ code, exit, means }) => [code, String(exit), means]),
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
  if (out.json) {
    const settings = SETTING_KEYS.map((key) => {
      const { means, secret = false, variable = null, default: usual = null, example = null } = SETTINGS[key];
      return { key, means, secret, variable, default: usual, example };
    });
    return out.data(JSON.stringify({ settings }));
  }
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

/** Not wrapped: files are copied from it. */
function showProduction(out: Output): void {
  if (out.json) return out.data(JSON.stringify(PRODUCTION));
  const sections = Object.values(PRODUCTION);
  out.lines([sections.map(({ title, text }) => `${out.paint.bold(title)}\n\n${text}`).join("\n\n\n")]);
}

/** The last column holds sentences, which go on below their own beginning. */
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
