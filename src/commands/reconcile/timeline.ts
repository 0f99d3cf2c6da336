/** `paylink reconcile <order number…>`: everything that the service and the event store have of an order, and one verdict. */
import { isSuccess } from "../../http/message.ts";
import type { Context } from "../../context.ts";
import { comparableText } from "../../values/comparable-text.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { stringifyJson } from "../../values/json.ts";
import type { History, StoredEvent } from "../../events/history.ts";
import { type Step, stepsOf } from "../../events/steps.ts";
import { orderJson } from "../../orders/order-json.ts";
import { acceptanceOf, type OrderVerdict, verdictOf } from "../../reconcile/timeline.ts";
import { renderServiceName } from "../../render/account.ts";
import { renderCommand } from "../../render/hint.ts";
import { formatLocal, wrap } from "../../render/layout.ts";
import { callbackText, hasNoWebhook, nextStep, verdictText } from "../../render/reconcile.ts";
import { safeText } from "../../render/safe-text.ts";
import { widthOf } from "../../render/width.ts";
import { comparedOrder, eventsOfOrder, findLinks, type FoundOrder, isRejectionOf } from "../found-order.ts";
import { openOrderSources, type OrderSources, type SourceValues } from "../order-sources.ts";

/** Throws `records_differ` or `order_not_found` after everything is printed. */
export async function showTimelines(
  context: Context,
  numbers: readonly string[],
  values: SourceValues,
): Promise<number> {
  const { out } = context;
  const sources = await openOrderSources(context, values);
  const wanted = [...new Map(numbers.map((number) => [comparableText(number), number])).values()];
  const found = wanted.map((number): FoundOrder => ({ number, links: [], rejections: [] }));
  await findLinks(sources.year, found);
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
  out.note(renderServiceName(sources.settings, out.notePaint));
  const names = unknown.map(safeText).join(", ");
  if (different.length > 0)
    throw new PaylinkError(
      "records_differ",
      `The records of ${different.map(safeText).join(", ")} do not agree: the verdict says where.${unknown.length === 0 ? "" : ` Neither the service nor the event store knows ${names}.`}`,
      { hints: [] },
    );
  if (unknown.length > 0)
    throw new PaylinkError(
      "order_not_found",
      `Neither the service nor the event store knows the order number ${names}.`,
    );
  return 0;
}

interface Timeline {
  readonly steps: readonly Step[];
  readonly verdict: OrderVerdict;
}

/** Undefined if nobody knows the number. */
async function timelineOf(found: FoundOrder, sources: OrderSources): Promise<Timeline | undefined> {
  const { store, year } = sources;
  const { links, rejections } = found;
  const events = await eventsOfOrder(store, found);
  if (links.length + rejections.length + events.length === 0) return undefined;
  const order = comparedOrder(found, events, sources);
  const accepted = new Map<string, Date>();
  const histories: { readonly event: StoredEvent; readonly history: History }[] = [];
  for (const event of events) {
    const history = await store.history(event.id);
    histories.push({ event, history });
    const at = acceptanceOf(history.attempts.filter(({ status }) => isSuccess(status)));
    if (at !== undefined) accepted.set(event.id, at);
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

/** With the event that it happened to. */
const stepText = ({ detail, event }: Step): string => (event === undefined ? detail : `${detail}, ${event}`);

function printTimeline(
  { out, named }: Context,
  number: string,
  { steps, verdict }: Timeline,
  { settings }: OrderSources,
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
    const lines = steps.map((step) => ({
      type: "step",
      invoiceId: number,
      at: step.at,
      what: step.what,
      detail: stepText(step),
    }));
    const agrees = !verdict.isDifferent;
    const last = {
      type: "verdict",
      invoiceId: number,
      agrees,
      verdict: text,
      // Each payment of a reusable link is an order of its own.
      ...(verdict.isReusable ? {} : { order: orderJson(verdict.order) }),
      next: commands[0] ?? null,
    };
    out.lines([...lines.map((line) => JSON.stringify(line)), stringifyJson(last)]);
    return;
  }
  const widest = Math.max(...steps.map(({ what }) => what.length));
  /** What does not fit goes to the next line: the ids in it are whole. */
  const stepLine = (step: Step): string => {
    const { at, what } = step;
    const [time, detail] = [formatLocal(at), safeText(stepText(step))];
    const line = `${time}  ${what.padEnd(widest)}  ${detail}`;
    return widthOf(line) <= lineWidth
      ? line.replace(time, paint.dim(time))
      : `${paint.dim(time)}  ${what}\n    ${wrap(detail, lineWidth - 4, 4)}`;
  };
  out.lines([
    paint.bold(safeText(number)),
    ...steps.map(stepLine),
    wrap(safeText(text), lineWidth),
    ...commands.map((command) => `  ${command}`),
  ]);
}
