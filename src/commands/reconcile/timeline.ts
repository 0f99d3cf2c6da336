/** `paylink reconcile <order number…>`: everything that the service and the event store have of an order, and one verdict. */
import { isSuccess } from "../../http/message.ts";
import type { Context } from "../../context.ts";
import { comparableText } from "../../domain/comparable-text.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { groupedAmount } from "../../domain/money.ts";
import { moneyIn, outcomeOf } from "../../domain/transaction.ts";
import type { PaymentLink } from "../../domain/payment-link-shapes.ts";
import { splitReference } from "../../domain/reference.ts";
import { parseInstant } from "../../domain/time.ts";
import { type Rejection } from "../../events/event.ts";
import { Orders } from "../../reconcile/orders.ts";
import { claimedNumber } from "../../reconcile/refused.ts";
import { comparedLink, linksOfYear } from "../../reconcile/service-links.ts";
import type { ReceivedPayment } from "../../reconcile/sides.ts";
import {
  acceptanceOf,
  isOfOrder,
  isOrderDifferent,
  type OrderVerdict,
  type Step,
  type StepName,
  verdictOf,
} from "../../reconcile/timeline.ts";
import { renderServiceName } from "../../render/account.ts";
import { renderCommand } from "../../render/hint.ts";
import { formatLocal, wrap } from "../../render/layout.ts";
import { callbackText, hasNoWebhook, nextStep, verdictText } from "../../render/reconcile.ts";
import { safeText } from "../../render/safe-text.ts";
import { widthOf } from "../../render/width.ts";
import { recordAmount } from "../../render/transaction-record.ts";
import { linkEnd } from "../../orders/link-end.ts";
import { linkId } from "../../service/links.ts";
import type { EventStore } from "../../store/event-store.ts";
import type { History } from "../../store/reading.ts";
import type { StoredEvent } from "../../store/rows.ts";
import { openSources, type ReconcileSources } from "./account.ts";

interface TimelineValues {
  readonly key: readonly string[];
  readonly db: string | undefined;
  readonly terminalId: string | undefined;
}

/** What was found of one order number. */
interface Found {
  readonly number: string;
  readonly links: PaymentLink[];
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
  for await (const { link } of linksOfYear(sources.year))
    for (const one of found) if (isLinkOf(link, one.number)) one.links.push(link);
  for await (const rejection of sources.store.rejections())
    for (const one of found) if (isRejectionOf(rejection, one.number)) one.rejections.push(rejection);
  const unknown: string[] = [];
  const different: string[] = [];
  for (const one of found) {
    const told = await timelineOf(one, sources);
    if (told === undefined) unknown.push(one.number);
    else {
      if (isOrderDifferent(told.verdict)) different.push(one.number);
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
function isLinkOf(link: PaymentLink, number: string): boolean {
  const own = [link.invoiceId, linkId(link)].flatMap((name) => (name ? comparableText(name) : []));
  if (own.includes(comparableText(number))) return true;
  const { base, suffix } = splitReference(number);
  return suffix !== null && link.linkOptions !== undefined && own.includes(comparableText(base));
}

function isRejectionOf({ request }: Rejection, number: string): boolean {
  const claimed = request === null ? undefined : claimedNumber(request.body);
  return claimed !== undefined && isOfOrder(claimed, number);
}

interface Timeline {
  readonly steps: readonly Step[];
  readonly verdict: OrderVerdict;
}

/** Undefined if nobody knows the number. */
async function timelineOf(
  { number, links, rejections }: Found,
  { store, keys, year }: ReconcileSources,
): Promise<Timeline | undefined> {
  const events = await eventsOfOrder(store, number, links);
  if (links.length + rejections.length + events.length === 0) return undefined;
  const orders = new Orders();
  const closed = links.filter((link) => isCompared(link, year.now));
  // The order is there, even if only a rejected webhook names it.
  const order = orders.orderOf(closed[0]?.invoiceId || number);
  for (const link of closed) orders.addLink(comparedLink(link, linkId(link) ?? ""));
  const steps = links.flatMap((link) => linkSteps(link, year.now));
  const accepted = new Map<string, Date>();
  for (const event of events) {
    const history = await store.history(event.id);
    steps.push(...eventSteps(event, history));
    const at = acceptanceOf(history.attempts.filter(({ status }) => isSuccess(status)));
    if (at !== undefined) accepted.set(event.id, at);
    const payment = receivedPayment(event);
    if (keys?.includes(event.key) ?? true) orders.addPayment(payment);
    else orders.addOfOtherKey({ reference: order.number, key: event.key });
  }
  steps.push(...rejections.map(rejectionStep));
  const refused = rejections.at(-1);
  const [keptSince, droppedUntil] = [await store.keptSince(), await store.refusalsDroppedUntil()];
  const open = links.find((link) => !isCompared(link, year.now));
  const end = open && linkEnd(open, year.now);
  const known = {
    hasBooks: false,
    since: 0,
    storedSince: keptSince?.getTime() ?? Number.NEGATIVE_INFINITY,
    refusalsDroppedUntil: droppedUntil?.getTime() ?? Number.NEGATIVE_INFINITY,
    refused: new Map(
      refused === undefined
        ? []
        : [[order.number, { id: refused.id, code: refused.code, receivedAt: refused.receivedAt.getTime() }]],
    ),
  };
  const standing = open === undefined ? undefined : end === "paid" ? undefined : (end ?? "open");
  return {
    steps: steps.toSorted((one, other) => one.at.getTime() - other.at.getTime()),
    verdict: verdictOf({ order, known, standing, accepted }),
  };
}

/** Paid, or reusable: what is compared with the webhooks. */
const isCompared = (link: PaymentLink, now: Date): boolean =>
  link.linkOptions !== undefined || linkEnd(link, now) === "paid";

/** Those of the number and of its links, each once, in order of arrival. */
async function eventsOfOrder(
  store: EventStore,
  number: string,
  links: readonly PaymentLink[],
): Promise<StoredEvent[]> {
  const names = new Set([number, ...links.flatMap((link) => [link.invoiceId ?? "", linkId(link) ?? ""])]);
  const found = new Map<string, StoredEvent>();
  for (const name of names) {
    if (name === "") continue;
    for await (const event of store.events({ order: name }))
      if (isOfOrder(event.reference, name)) found.set(event.id, event);
  }
  return [...found.values()];
}

const receivedPayment = ({
  id,
  uti,
  reference,
  receivedAt,
  content,
  delivery,
}: StoredEvent): ReceivedPayment => ({
  event: id,
  uti,
  reference,
  outcome: outcomeOf(content.record),
  money: moneyIn(content.record),
  receivedAt: receivedAt.getTime(),
  delivery: delivery?.state ?? null,
});

const LINK_STEPS: readonly (readonly [date: keyof PaymentLink & `${string}Date`, what: StepName])[] = [
  ["createdDate", "link created"],
  ["viewedDate", "link viewed"],
  ["attemptedDate", "payment attempted"],
  ["paidDate", "link paid"],
  ["cancelledDate", "link cancelled"],
];

function linkSteps(link: PaymentLink, now: Date): Step[] {
  const { amount, currency = "" } = link;
  const money = amount === undefined ? "" : `, ${groupedAmount(amount, currency)}`;
  const detail = `link ${linkId(link) ?? "without an id"}${link.linkOptions === undefined ? "" : ", reusable"}${money}`;
  const expiry = linkEnd(link, now) === "expired" ? instantIn(link.expirationDate) : undefined;
  return [
    ...LINK_STEPS.flatMap(([name, what]) => {
      const at = instantIn(link[name]);
      return at === undefined ? [] : [{ at, what, detail }];
    }),
    ...(expiry === undefined ? [] : [{ at: expiry, what: "link expired" as const, detail }]),
  ];
}

const instantIn = (date: unknown): Date | undefined =>
  typeof date === "string" ? parseInstant(date) : undefined;

function eventSteps(event: StoredEvent, { arrivals, attempts, actions }: History): Step[] {
  const { receivedAt, uti, id, content } = event;
  const { record } = content;
  const amount = record === null ? "" : `, ${recordAmount(record)}`;
  const named = `event ${id}${uti === "" ? "" : `, uti ${uti}`}`;
  return [
    {
      at: receivedAt,
      what: "webhook arrived",
      detail: `${outcomeOf(record)}${amount}, ${named}`,
    },
    ...arrivals.map((arrival) => ({
      at: arrival.receivedAt,
      what: "webhook repeated" as const,
      detail: named,
    })),
    ...attempts.map(({ at, target, status, ms, detail, isReplay }) => ({
      at,
      what: isReplay ? ("replayed" as const) : ("forwarded" as const),
      detail: `${target}: ${status === null ? detail : `answered ${status}`} in ${ms} ms${status === null || detail === "" ? "" : `: ${detail}`}`,
    })),
    ...actions.map(({ at, action, actor }) => ({ at, what: action, detail: `by ${actor}, ${named}` })),
  ];
}

const rejectionStep = ({ receivedAt, code, status, id }: Rejection): Step => ({
  at: receivedAt,
  what: "webhook refused",
  detail: `${status} ${code}, request ${id}; it is not verified that it is for this order`,
});

function printTimeline(
  { out, named }: Context,
  number: string,
  { steps, verdict }: Timeline,
  { settings }: ReconcileSources,
): void {
  const { paint, lineWidth } = out;
  const isMissed = verdict.is === "different" && verdict.findings.some(hasNoWebhook);
  const text = [verdictText(verdict), ...(isMissed ? [callbackText(settings.get("callbackUrl"))] : [])].join(
    " ",
  );
  const next = verdict.is === "different" ? verdict.findings.flatMap((one) => nextStep(one) ?? []) : [];
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
    const agrees = !isOrderDifferent(verdict);
    const last = { type: "verdict", invoiceId: number, agrees, verdict: text, next: commands[0] ?? null };
    out.lines([...lines, last].map((line) => JSON.stringify(line)));
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
