/** `paylink reconcile <order number…>`: everything that the service and the event store have of an order, and one verdict. */
import { isSuccess } from "../../http/message.ts";
import type { Context } from "../../context.ts";
import { comparableText } from "../../domain/comparable-text.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import type { Rejection } from "../../events/event.ts";
import type { History, StoredEvent } from "../../events/history.ts";
import { type NamedLink, type Step, stepsOf } from "../../events/steps.ts";
import { orderJson } from "../../orders/order-json.ts";
import { baseNumberOf, linkNumber, orderNumberOf } from "../../orders/order-number.ts";
import { paymentIn } from "../../orders/order.ts";
import { Orders } from "../../reconcile/orders.ts";
import { claimedNumber } from "../../reconcile/refused.ts";
import { comparedLink, linksOfYear } from "../../reconcile/service-links.ts";
import type { ReceivedPayment } from "../../reconcile/sides.ts";
import { acceptanceOf, type OrderVerdict, verdictOf } from "../../reconcile/timeline.ts";
import { renderServiceName } from "../../render/account.ts";
import { renderCommand } from "../../render/hint.ts";
import { formatLocal, wrap } from "../../render/layout.ts";
import { callbackText, hasNoWebhook, nextStep, verdictText } from "../../render/reconcile.ts";
import { safeText } from "../../render/safe-text.ts";
import { widthOf } from "../../render/width.ts";
import { linkId } from "../../service/links.ts";
import type { EventStore } from "../../store/event-store.ts";
import { openSources, type ReconcileSources } from "./account.ts";

interface TimelineValues {
  readonly key: readonly string[];
  readonly db: string | undefined;
  readonly terminalId: string | undefined;
}

/** What was found of one order number. */
interface Found {
  readonly number: string;
  readonly links: NamedLink[];
  readonly rejections: Rejection[];
}

/** Throws `records_differ` or `order_not_found` after everything is printed. */
export async function showTimelines(
  context: Context,
  numbers: readonly string[],
  values: TimelineValues,
): Promise<number> {
  const { out } = context;
  const sources = await openSources(context, values);
  const wanted = [...new Map(numbers.map((number) => [comparableText(number), number])).values()];
  const found = wanted.map((number): Found => ({ number, links: [], rejections: [] }));
  for await (const link of linksOfYear(sources.year)) {
    const id = linkId(link) ?? "";
    for (const one of found) if (isLinkOf({ link, id }, one.number)) one.links.push({ link, id });
  }
  for await (const rejection of sources.store.rejections())
    for (const one of found) if (isRejectionOf(rejection, one)) one.rejections.push(rejection);
  const unknown: string[] = [];
  const different: string[] = [];
  for (const one of found) {
    const told = await timelineOf(one, sources);
    if (told === undefined) unknown.push(one.number);
    else {
      if (told.verdict.isDifferent) different.push(one.number);
      printTimeline(context, one.number, told, sources);
    }
  }
  if (!out.json) out.note(renderServiceName(sources.settings, out.notePaint));
  const names = unknown.map(safeText).join(", ");
  if (different.length > 0)
    throw new PaylinkError(
      "records_differ",
      `What was paid and what arrived do not agree for ${different.map(safeText).join(", ")}.${unknown.length === 0 ? "" : ` Neither the service nor the event store knows ${names}.`}`,
      { hints: [] },
    );
  if (unknown.length > 0)
    throw new PaylinkError(
      "order_not_found",
      `Neither the service nor the event store knows the order number ${names}.`,
    );
  return 0;
}

/** By its order number, or by its id; a reusable link also by the reference of one of its payments. */
function isLinkOf({ link, id }: NamedLink, number: string): boolean {
  const own = new Set([linkNumber(link, id), comparableText(id)]);
  if (own.has(comparableText(number))) return true;
  const base = baseNumberOf(number);
  return base !== undefined && link.linkOptions !== undefined && own.has(base);
}

/** Whether a reference is one of the order: of its number, or of one of its links. */
function isReferenceOf(reference: string, { number, links }: Found): boolean {
  const kinds = new Map(
    links.flatMap(({ link, id }) => {
      const kind = link.linkOptions === undefined ? ("one-time" as const) : ("reusable" as const);
      return [linkNumber(link, id), comparableText(id)].map((name) => [name, kind] as const);
    }),
  );
  const own = orderNumberOf(reference, (name) => kinds.get(name));
  return kinds.has(own) || own === comparableText(number);
}

function isRejectionOf({ request }: Rejection, found: Found): boolean {
  const claimed = request === null ? undefined : claimedNumber(request.body);
  return claimed !== undefined && isReferenceOf(claimed, found);
}

interface Timeline {
  readonly steps: readonly Step[];
  readonly verdict: OrderVerdict;
}

/** Undefined if nobody knows the number. */
async function timelineOf(
  found: Found,
  { store, keys, year }: ReconcileSources,
): Promise<Timeline | undefined> {
  const { number, links, rejections } = found;
  const events = await eventsOfOrder(store, found);
  if (links.length + rejections.length + events.length === 0) return undefined;
  const orders = new Orders();
  const [first] = links;
  // The order is there, even if only a rejected webhook names it.
  const order = orders.orderOf(first === undefined ? number : linkNumber(first.link, first.id));
  const compared = links.flatMap(
    ({ link }) => comparedLink(link, year.now, { since: 0, until: undefined }) ?? [],
  );
  order.links.push(...compared);
  const accepted = new Map<string, Date>();
  const histories: { readonly event: StoredEvent; readonly history: History }[] = [];
  for (const event of events) {
    const history = await store.history(event.id);
    histories.push({ event, history });
    const at = acceptanceOf(history.attempts.filter(({ status }) => isSuccess(status)));
    if (at !== undefined) accepted.set(event.id, at);
    if (keys?.includes(event.key) ?? true) order.payments.push(receivedPayment(event));
    else order.otherKey = event.key;
  }
  const refused = rejections.at(-1);
  const [keptSince, droppedUntil] = [await store.keptSince(), await store.refusalsDroppedUntil()];
  const known = {
    hasBooks: false,
    isReceivingElsewhere: false,
    since: 0,
    storedSince: keptSince?.getTime() ?? Number.NEGATIVE_INFINITY,
    refusalsDroppedUntil: droppedUntil?.getTime() ?? Number.NEGATIVE_INFINITY,
    refused: new Map(
      refused === undefined
        ? []
        : [[order.number, { id: refused.id, code: refused.code, receivedAt: refused.receivedAt.getTime() }]],
    ),
  };
  return {
    steps: stepsOf({ links, events: histories, rejections }, year.now),
    verdict: verdictOf({ order, known, accepted }),
  };
}

/** Those of the number and of its links, each once, in order of arrival. */
async function eventsOfOrder(store: EventStore, order: Found): Promise<StoredEvent[]> {
  const names = new Set([order.number, ...order.links.flatMap(({ link, id }) => [link.invoiceId ?? "", id])]);
  const found = new Map<string, StoredEvent>();
  for (const name of names) {
    if (name === "") continue;
    for await (const event of store.events({ order: name }))
      if (isReferenceOf(event.reference, order)) found.set(event.id, event);
  }
  return [...found.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

const receivedPayment = ({ id, reference, receivedAt, content, delivery }: StoredEvent): ReceivedPayment => ({
  ...paymentIn(content.record),
  event: id,
  reference,
  receivedAt: receivedAt.getTime(),
  delivery: delivery?.state ?? null,
});

function printTimeline(
  { out, named }: Context,
  number: string,
  { steps, verdict }: Timeline,
  { settings }: ReconcileSources,
): void {
  const { paint, lineWidth } = out;
  const isMissed = verdict.findings.some(hasNoWebhook);
  const text = [verdictText(verdict), ...(isMissed ? [callbackText(settings.get("callbackUrl"))] : [])].join(
    " ",
  );
  const next = verdict.findings.flatMap((one) => nextStep(one) ?? []);
  // The timeline itself is not a next step of it.
  const commands = next
    .filter(({ words }) => words[0]?.text !== "reconcile")
    .flatMap((one) => renderCommand(one, named) ?? []);
  if (out.json) {
    const lines = steps.map(({ at, what, detail }) => ({
      type: "step",
      invoiceId: number,
      at,
      what,
      detail,
    }));
    const agrees = !verdict.isDifferent;
    const last = {
      type: "verdict",
      invoiceId: number,
      agrees,
      verdict: text,
      // Each payment of a reusable link is an order of its own.
      ...(verdict.reusable === undefined ? { order: orderJson(verdict.order) } : {}),
      next: commands[0] ?? null,
    };
    out.lines([...lines.map((line) => JSON.stringify(line)), stringifyJson(last)]);
    return;
  }
  const widest = Math.max(...steps.map(({ what }) => what.length));
  /** What does not fit goes to the next line: the ids in it are whole. */
  const stepLine = ({ at, what, detail }: Step): string => {
    const time = formatLocal(at);
    const line = `${time}  ${what.padEnd(widest)}  ${safeText(detail)}`;
    return widthOf(line) <= lineWidth
      ? line.replace(time, paint.dim(time))
      : `${paint.dim(time)}  ${what}\n    ${wrap(safeText(detail), lineWidth - 4, 4)}`;
  };
  out.lines([
    paint.bold(safeText(number)),
    ...steps.map(stepLine),
    wrap(safeText(text), lineWidth),
    ...commands.map((command) => `  ${command}`),
  ]);
}
