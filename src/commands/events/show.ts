/** `paylink events show`: one event whole, with each step of its verification and all that became of it. */
import type { Context } from "../../context.ts";
import { renderRecord } from "../../render/transaction-record.ts";
import { safeText } from "../../render/safe-text.ts";
import { renderSteps } from "../../render/verdict-report.ts";
import { formatLocal } from "../../render/time.ts";
import { renderEventHeading, renderForward, renderRejection } from "../../render/received-webhook.ts";
import { eventLine } from "../../receiver/event-line.ts";
import type { HttpRequest } from "../../http/message.ts";
import { compareDigests } from "../../signatures/digest.ts";
import { traceBase } from "../../signatures/trace.ts";
import type { Verdict } from "../../signatures/verdict.ts";
import type { KeptEvent, KeptRejection } from "../../store/event-archive.ts";
import type { EventStore } from "../../store/events.ts";
import { findOne } from "../../store/find-event.ts";
import { asReceived, withEvents } from "./archive.ts";

export async function show(context: Context, uti: string, flags: { readonly db?: string }): Promise<void> {
  const { out } = context;
  await withEvents(context, flags, (store) => {
    const found = findOne(store, uti);
    if (found.type === "rejected") out.data(out.json ? JSON.stringify(found) : rejectionText(found, context));
    else out.data(out.json ? eventJson(found, store) : eventText(found, store, context));
  });
}

/** The event's own line, with what came after it. */
function eventJson(kept: KeptEvent, store: EventStore): string {
  const after = JSON.stringify({ arrivals: store.arrivals(kept.id), forwards: store.forwards(kept.id) });
  return `${eventLine(asReceived(kept)).slice(0, -1)},${after.slice(1)}`;
}

function eventText(kept: KeptEvent, store: EventStore, { out }: Context): string {
  const { paint } = out;
  const event = asReceived(kept);
  const { verdict, record, breaches, request, receivedAt, id } = event;
  const verified = verdict.verdict === "valid";
  const lines = [
    renderEventHeading({ ...event, verified, warnings: verdict.warnings }, paint),
    renderRecord(record ?? {}, breaches, out),
    ...requestLines(request, paint),
    verificationText(verdict, request, paint),
    `  ${paint.cyan("deliveries")}`,
    `    ${formatLocal(receivedAt)}  ${id}`,
  ];
  for (const arrival of store.arrivals(kept.id))
    lines.push(`    ${formatLocal(arrival.receivedAt)}  ${arrival.id}  ${paint.yellow("repeated")}`);
  const forwards = store.forwards(kept.id);
  if (forwards.length > 0) lines.push(`  ${paint.cyan("forwards")}`);
  for (const forward of forwards) lines.push(renderForward(formatLocal(forward.at), forward, paint));
  return lines.join("\n");
}

function rejectionText(rejection: KeptRejection, { out: { paint } }: Context): string {
  const { request, checks, id } = rejection;
  return [
    renderRejection(rejection, paint),
    ...(request === null ? [] : requestLines(request, paint)),
    verificationText({ checks, warnings: [], signatureBase: null }, request, paint),
    `  paylink verify --event ${id}   explains it`,
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

/** As `verify` shows it; nothing to compare where what was turned away was no HTTP request. */
function verificationText(
  verdict: Pick<Verdict, "checks" | "warnings" | "signatureBase">,
  request: HttpRequest | null,
  paint: Paint,
): string {
  const digests = request === null ? [] : compareDigests(request.headers, request.body);
  const trace =
    request === null ? [] : traceBase(verdict.signatureBase, request, "the address it was judged by");
  return renderSteps({ verdict, digests, trace }, paint).replace(/^(?=.)/gm, "  ");
}
