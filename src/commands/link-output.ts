/** What commands print of one link: in words, its URL alone, or the service's own JSON; and a warning of where its payments are reported. */
import type { Context } from "../context.ts";
import type { PaymentLinkRequest } from "../domain/payment-link-values.ts";
import { renderProblem } from "../render/error-message.ts";
import { renderLinkDetails } from "../render/link.ts";
import { safeText } from "../render/safe-text.ts";
import type { ServiceLink } from "../service/links.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";

/** With `--quiet` the URL, or the id of a link that has none. */
export function printLink(
  { text, link, violations }: Pick<ServiceLink, "text" | "link" | "violations">,
  quiet: boolean,
  { out }: Pick<Context, "out">,
  words: () => string,
): void {
  for (const violation of violations) out.warn(renderProblem(violation));
  if (out.json) out.data(text);
  else out.data(quiet ? safeText(link.url ?? link.id ?? "") : words());
}

/** Every field and date. */
export async function showServiceLink(
  context: Pick<Context, "out" | "settings" | "now">,
  shown: ServiceLink,
  quiet: boolean,
): Promise<void> {
  const style = { paint: context.out.paint, now: context.now(), service: await context.settings() };
  printLink(shown, quiet, context, () => renderLinkDetails(shown.link, shown.json, style));
}

/** Warns if nobody, or an address that the service cannot reach, learns of the payments of a link. */
export async function warnOfCallbacks(
  { paymentSettings = {} }: PaymentLinkRequest,
  settings: ResolvedSettings,
  out: Context["out"],
): Promise<void> {
  const { callbackWarning } = await import("../service/checks.ts");
  const warning = callbackWarning(paymentSettings, settings);
  if (warning !== undefined) out.warn(warning);
}
