/** How the order of a link stands, in one line: by all links of its number, and what arrived of it. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import type { NamedLink } from "../../events/steps.ts";
import { standingText } from "../../orders/standing-words.ts";
import { comparedStanding } from "../../reconcile/findings.ts";
import { wrap } from "../../render/layout.ts";
import { safeText } from "../../render/safe-text.ts";
import { comparedOrder, eventsOfOrder, findLinks, type FoundOrder } from "../found-order.ts";
import { openOrderSources } from "../order-sources.ts";

/**
 * Undefined for a link without an order number, and for a reusable one, each payment of which is an order of its own; and where the
 * service lists no links or the event store cannot be read: the link itself is shown all the same.
 */
export async function orderLine(
  context: Context,
  { link, id }: NamedLink,
  db: string | undefined,
): Promise<string | undefined> {
  const { invoiceId: number = "", terminalId, linkOptions } = link;
  if (number === "" || linkOptions !== undefined) return undefined;
  const found: FoundOrder = { number, links: [], rejections: [] };
  try {
    const sources = await openOrderSources(context, { key: [], db, terminalId });
    await findLinks(sources.year, [found]);
    // A service lists the links of a year.
    if (!found.links.some((listed) => listed.id === id)) found.links.push({ link, id });
    const order = comparedOrder(found, await eventsOfOrder(sources.store, found), sources);
    const line = safeText(`Order ${number}: ${standingText(comparedStanding(order))}`);
    return wrap(line, context.out.lineWidth);
  } catch (error) {
    if (!(error instanceof PaylinkError) || error.isInterruption) throw error;
    context.signal.throwIfAborted();
    context.out.note(`It is not known how its order stands: ${error.message}`);
    return undefined;
  }
}
