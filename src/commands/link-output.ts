/** What commands print of one link: in words, its URL alone, or the service's own JSON; and what they warn of. */
import { wordFor } from "../values/plural.ts";
import type { Context } from "../context.ts";
import { hint, paylink } from "../domain/hint.ts";
import type { PaymentLinkRequest } from "../domain/payment-link-shapes.ts";
import { renderProblem } from "../render/error-message.ts";
import { renderHint } from "../render/hint.ts";
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
  out.result(text, () => (quiet ? safeText(link.url ?? link.id ?? "") : words()));
}

/** Every field and date. */
export async function showServiceLink(
  context: Pick<Context, "out" | "settings" | "now">,
  shown: ServiceLink,
  quiet: boolean,
): Promise<void> {
  const { paint, lineWidth } = context.out;
  const style = { paint, lineWidth, now: context.now(), service: await context.settings() };
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
  if (warning !== undefined) out.warn(renderHint(warning));
}

/** Links that one command cancels. */
const MOST_LINKS_NAMED = 20;

/** Warns of links, by their ids or URLs, that ask the customer for another amount or order, or for somebody else, than was sent. */
export function warnOfOtherLinks(
  links: readonly string[],
  { out, named }: Pick<Context, "out" | "named">,
): void {
  if (links.length === 0) return;
  const which = wordFor(links.length, "The link does", `${links.length} links do`);
  const them = wordFor(links.length, "it", "them");
  const first = links.length > MOST_LINKS_NAMED ? `the first ${MOST_LINKS_NAMED}` : them;
  const advice = hint`${which} not ask the customer for what you sent: do not pass ${them} on. To cancel ${first}: ${paylink`links cancel ${links.slice(0, MOST_LINKS_NAMED)}`}`;
  out.warn(renderHint(advice, named));
}
