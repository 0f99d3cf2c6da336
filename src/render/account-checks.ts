/** Shows the checks of an account: one line each with its mark, and the remedy below it. */
import type { Hint } from "../domain/errors.ts";
import { renderHint } from "./hint.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";

export interface ShownCheck {
  readonly check: string;
  readonly state: "ok" | "warning" | "failed" | "skipped";
  readonly detail: string;
  readonly remedies: readonly Hint[];
}

const WIDTH = "transaction address".length;

export function renderCheck(
  { check, state, detail, remedies }: ShownCheck,
  paint: Paint,
  profile: string | undefined,
): string {
  const marks = {
    ok: paint.green("✓"),
    warning: paint.yellow("!"),
    failed: paint.red("✗"),
    skipped: paint.dim("–"),
  };
  const text = safeText(detail);
  const first = `${marks[state]} ${paint.bold(check.padEnd(WIDTH))}  ${state === "skipped" ? paint.dim(text) : text}`;
  const below = remedies.map((hint) => `${" ".repeat(WIDTH + 4)}${renderHint(hint, profile)}`);
  return [first, ...below].join("\n");
}
