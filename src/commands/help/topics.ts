/** Shows the topics of `paylink help` that do not belong to one command. */
import type { Context, Output } from "../../context.ts";
import { FAILURES } from "../../domain/errors.ts";
import { EXIT_CODES } from "../../domain/errors.ts";
import { renderTable } from "../../render/table.ts";
import { SETTING_KEYS, SETTINGS } from "../../store/settings/setting-table.ts";
import { explainSetting } from "../setting-help.ts";
import { ENVIRONMENT } from "./environment.ts";
import { MEANINGS } from "./reasons.ts";

const TOPICS = {
  errors: showErrors,
  reasons: showReasons,
  settings: showSettings,
  environment: showEnvironment,
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
    indented(exits.map(({ code, means }) => [String(code), means])),
    "\nError codes, each with its exit code; --json gives them as error.code:",
    indented(errors.map(({ code, exit, means }) => [code, String(exit), means])),
  ]);
}

function showReasons(out: Output): void {
  if (out.json) return out.data(JSON.stringify(MEANINGS));
  out.lines([
    "Why a webhook is refused, in the order of the checks; the first reason found is reported.",
    "paylink verify explains one webhook: verify --event <id>, or verify with a captured request.\n",
    indented(Object.entries(MEANINGS)),
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
  out.data(
    "Settings of a profile. A flag comes first, then the environment variable, the profile, the service,",
  );
  out.data("and the default. paylink config list shows the values in force.\n");
  out.data(SETTING_KEYS.map(explainSetting).join("\n"));
}

function showEnvironment(out: Output): void {
  if (out.json) return out.data(JSON.stringify(ENVIRONMENT));
  out.lines([
    "Environment variables. A flag overrides them, and they override the profile:",
    indented(Object.entries(ENVIRONMENT)),
  ]);
}

function indented(rows: readonly (readonly string[])[]): string {
  return renderTable(rows.map((row) => row.map((text) => ({ text })))).replace(/^/gm, "  ");
}
