/** An account as text: its profile, its service and what replaces parts of it (`profile default · api.dnapayments.com · LIVE`), and its checks. */
import type { Paint } from "./paint.ts";
import { parseWebAddress } from "../values/addresses.ts";
import { safeText } from "./safe-text.ts";
import type { AccountCheck } from "../service/checks.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import { type Named, renderHint } from "./hint.ts";
import { wrap, NO_VALUE } from "./layout.ts";
import { widthOf } from "./width.ts";

/** What is shown of the service of an account. */
export type ShownService = Pick<ResolvedSettings, "profile" | "label" | "replaced" | "get">;

export function renderServiceName(service: ShownService, paint: Paint): string {
  const { profile, label, replaced } = service;
  const baseUrl = service.get("baseUrl") ?? "";
  const name = profile === undefined ? "no profile" : `profile ${safeText(profile)}`;
  const host = safeText(parseWebAddress(baseUrl)?.host ?? baseUrl);
  const mayBeLive = label === "LIVE" || label === "CUSTOM";
  const parts = replaced.map((part) => paint.dim(` · ${part}`)).join("");
  return `${paint.dim(`${name} · ${host} ·`)} ${mayBeLive ? paint.yellow(label) : paint.dim(label)}${parts}`;
}

const CHECK_NAME_WIDTH = "transaction address".length;

export function renderCheck(
  { check, state, detail, remedies }: AccountCheck,
  { paint, lineWidth }: { readonly paint: Paint; readonly lineWidth: number },
  named: Named,
): string {
  const marks = {
    ok: paint.green("✓"),
    warning: paint.yellow("!"),
    failed: paint.red("✗"),
    skipped: paint.dim(NO_VALUE),
  };
  const column = CHECK_NAME_WIDTH + 4;
  const text = wrap(safeText(detail), lineWidth - column, column);
  const first = `${marks[state]} ${paint.bold(check.padEnd(CHECK_NAME_WIDTH))}  ${state === "skipped" ? paint.dim(text) : text}`;
  // Not wrapped: a command that is copied stays on one line.
  const below = remedies
    .map((hint) => renderHint(hint, named))
    .map((shown) => " ".repeat(column + widthOf(shown) <= lineWidth ? column : 4) + shown);
  return [first, ...below].join("\n");
}
