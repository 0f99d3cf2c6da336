/** Shows the topics of `paylink help` that belong to no one command. */
import type { Context } from "../../context.ts";
import { EXIT_CODES, FAILURES } from "../../domain/errors.ts";
import { renderTable } from "../../render/table.ts";
import type { Topic } from "./command.ts";
import { ENVIRONMENT } from "./environment.ts";
import { MEANINGS } from "./reasons.ts";

export function showTopic(context: Context, topic: Topic): void {
  if (topic === "errors") showErrors(context);
  else if (topic === "reasons") showReasons(context);
  else showEnvironment(context);
}

function showErrors({ out }: Context): void {
  const exits = Object.entries(EXIT_CODES).map(([code, means]) => ({ code: Number(code), means }));
  const errors = Object.entries(FAILURES).map(([code, { exit, means }]) => ({ code, exit, means }));
  if (out.json) return out.data(JSON.stringify({ exits, errors }));
  out.data("Exit codes:");
  out.data(indented(exits.map(({ code, means }) => [String(code), means])));
  out.data("\nError codes, each with its exit code; --json gives them as error.code:");
  out.data(indented(errors.map(({ code, exit, means }) => [code, String(exit), means])));
}

function showReasons({ out }: Context): void {
  if (out.json) return out.data(JSON.stringify(MEANINGS));
  out.data(
    "Why a webhook is refused, in the order in which it is looked at; the first reason is the one told.",
  );
  out.data("paylink verify explains one webhook: verify --event <id>, or verify with a captured request.\n");
  out.data(indented(Object.entries(MEANINGS)));
}

function showEnvironment({ out }: Context): void {
  if (out.json) return out.data(JSON.stringify(ENVIRONMENT));
  out.data("Environment variables. A flag is stronger, a profile is weaker:");
  out.data(indented(Object.entries(ENVIRONMENT)));
}

function indented(rows: readonly (readonly string[])[]): string {
  return renderTable(rows.map((row) => row.map((text) => ({ text })))).replace(/^/gm, "  ");
}
