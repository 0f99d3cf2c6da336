/** Shows the checks of an account: one line each with its mark, and the remedy below it. */
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";

export interface ShownCheck {
  readonly check: string;
  readonly state: "ok" | "warning" | "failed" | "skipped";
  readonly detail: string;
  readonly remedy?: string | undefined;
}

const WIDTH = "transaction address".length;

export function renderCheck({ check, state, detail, remedy }: ShownCheck, paint: Paint): string {
  const marks = {
    ok: paint.green("✓"),
    warning: paint.yellow("!"),
    failed: paint.red("✗"),
    skipped: paint.dim("–"),
  };
  const text = safeText(detail);
  const first = `${marks[state]} ${paint.bold(check.padEnd(WIDTH))}  ${state === "skipped" ? paint.dim(text) : text}`;
  const below = remedy?.split("\n").map((line) => `${" ".repeat(WIDTH + 4)}${safeText(line)}`) ?? [];
  return [first, ...below].join("\n");
}
