/** `paylink events show`: one event in full, with everything that happened to it. */
import type { Context } from "../../context.ts";
import { paylink } from "../../domain/errors.ts";
import { findOne } from "../../store/event-store.ts";
import type { History } from "../../store/reading.ts";
import { asReceived, type Delivery, type StoredEvent, type StoredRejection } from "../../store/rows.ts";
import type { HttpRequest } from "../../http/message.ts";
import { eventLine, failedCheck, requestDocument } from "../../receiver/events.ts";
import type { Verdict } from "../../signatures/verdict.ts";
import { renderCommand } from "../../render/hint.ts";
import { clockTime, formatLocal } from "../../render/layout.ts";
import { renderForward, renderRejection, renderWebhook } from "../../render/received-webhook.ts";
import { safeText } from "../../render/safe-text.ts";
import { transactionCommand } from "../shared-flags.ts";
import { withEvents } from "./stored-events.ts";

export async function showEvent(
  context: Context,
  name: string,
  database: string | undefined,
): Promise<number> {
  const { out } = context;
  await withEvents(context, database, async (store) => {
    const found = await findOne(store, name);
    if (found.type === "rejected")
      return out.data(out.json ? rejectionDocument(found) : rejectionText(found, context));
    const history = await store.history(found.id);
    if (out.json) return out.data(eventDocument(found, history));
    out.data(eventText(found, history, context, await transactionCommand(context)));
  });
  return 0;
}

/** The event's own line, with its history. */
const eventDocument = (event: StoredEvent, history: History): string =>
  `${eventLine(asReceived(event)).slice(0, -1)},${JSON.stringify({ delivery: event.delivery, ...history }).slice(1)}`;

const rejectionDocument = ({ request, ...rejection }: StoredRejection): string =>
  JSON.stringify({
    ...rejection,
    check: failedCheck(rejection.verdict),
    request: request && requestDocument(request),
  });

function eventText(
  event: StoredEvent,
  { arrivals, attempts, actions }: History,
  context: Context,
  command: string | undefined,
): string {
  const { paint, width } = context.out;
  const { verdict, request, receivedAt, id, delivery } = event;
  const lines = [
    renderWebhook(asReceived(event), { paint, width, transactionCommand: command }),
    ...requestLines(request, paint),
    `  ${paint.cyan("signature")}`,
    `    ${verdictWords(verdict)}`,
    `  ${paint.cyan("deliveries")}`,
    `    ${formatLocal(receivedAt)}  ${id}`,
    ...arrivals.map(
      (arrival) => `    ${formatLocal(arrival.receivedAt)}  ${arrival.id}  ${paint.yellow("repeated")}`,
    ),
  ];
  if (attempts.length + actions.length > 0 || delivery !== null) lines.push(`  ${paint.cyan("forwards")}`);
  const happened = [
    ...attempts.map((attempt) => ({
      at: attempt.at,
      text: renderForward(`${formatLocal(attempt.at)}${attempt.isReplay ? "  replay" : ""}`, attempt, paint),
    })),
    ...actions.map(({ at, action, actor }) => ({
      at,
      text: `    ${formatLocal(at)}  ${action} by ${safeText(actor)}`,
    })),
  ].toSorted((one, other) => one.at.getTime() - other.at.getTime());
  lines.push(...happened.map(({ text }) => text));
  if (delivery !== null) lines.push(`    ${deliveryWords(id, delivery, context)}`);
  return lines.join("\n");
}

function verdictWords({ keyid, alg, created, covered }: Verdict): string {
  const when = created === null ? "" : `, made ${formatLocal(new Date(created * 1000))}`;
  const key = keyid === null ? "" : ` with the key ${safeText(keyid)}`;
  return `${alg}${key}${when}, covers ${covered.map(safeText).join(" ")}`;
}

function deliveryWords(
  id: string,
  { state, attempts, isTrying, next }: Delivery,
  { out: { paint }, named }: Context,
): string {
  const retry = renderCommand(paylink("events", "retry", id), named);
  const made = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  if (state === "delivered") return paint.green("delivered: your application accepted it");
  if (state === "skipped")
    return `${paint.yellow("skipped: never forwarded")}; ${retry}   forwards it after all`;
  if (state === "failed")
    return `${paint.red(`failed after ${made}`)}; ${retry}   makes it due for a listen --ack stored`;
  if (isTrying) return paint.yellow("an attempt is under way");
  if (attempts === 0) return paint.yellow("waits for its first attempt");
  return paint.yellow(
    `waits for attempt ${attempts + 1}${next === null ? "" : `, due at ${formatLocal(next)}`}`,
  );
}

function rejectionText(rejection: StoredRejection, { out: { paint }, named }: Context): string {
  const { request, id, receivedAt, verdict } = rejection;
  return [
    renderRejection(`${clockTime(receivedAt)} ${id}`, rejection, paint),
    ...(request === null ? [] : requestLines(request, paint)),
    `  ${paint.cyan("signature")}`,
    `    ${failedCheck(verdict) === undefined ? "it verified" : `the check "${failedCheck(verdict)}" failed`}${verdict === null ? "" : `; ${verdictWords(verdict)}`}`,
    ...(request === null
      ? []
      : [
          `  ${renderCommand(paylink("verify", "--event", id), named)}   explains it`,
          `  ${renderCommand(paylink("events", "accept", id), named)}   stores it if it verifies with the keys of today`,
        ]),
  ].join("\n");
}

type Paint = Context["out"]["paint"];

function requestLines({ method, target, headers, body }: HttpRequest, paint: Paint): string[] {
  return [
    `  ${paint.cyan("request")}`,
    `    ${safeText(`${method} ${target}`)}`,
    ...headers.map(([name, value]) => `    ${paint.dim(safeText(name))}: ${safeText(value)}`),
    `    ${body.length} bytes of body`,
  ];
}
