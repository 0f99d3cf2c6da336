/** `paylink events show`: one event in full, with its verification, deliveries and forwards. */
import type { Context } from "../../context.ts";
import { paylink } from "../../domain/errors.ts";
import { type Named, renderCommand } from "../../render/hint.ts";
import { safeText } from "../../render/safe-text.ts";
import { renderSteps } from "../../render/verdict-report.ts";
import { clockTime, formatLocal } from "../../render/layout.ts";
import { renderForward, renderRejection, renderWebhook } from "../../render/received-webhook.ts";
import {
  eventLine,
  failedCheck,
  type Forward,
  requestDocument,
  type WebhookEvent,
} from "../../receiver/events.ts";
import type { HttpRequest } from "../../http/message.ts";
import { baseOf, checksOf } from "../../signatures/explain/checks.ts";
import type { Verdict } from "../../signatures/verdict.ts";
import {
  type Arrival,
  asReceived,
  type EventStore,
  type Queued,
  type StoredEvent,
  type StoredRejection,
} from "../../receiver/event-store.ts";
import { findOne } from "../../events/store.ts";
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
      out.data(out.json ? rejectionDocument(found) : rejectionText(found, context));
    else {
      const history = await historyOf(found, store);
      const event = asReceived(found);
      out.data(
        out.json
          ? eventDocument(event, history)
          : eventText(event, history, context, await transactionCommand(context)),
      );
    }
  });
  return 0;
}

/** What happened after the first arrival. */
interface History {
  readonly arrivals: readonly Arrival[];
  readonly forwards: readonly Forward[];
  readonly failed: boolean;
  /** Its state in the queue of listen --ack stored; null if it is not in it. */
  readonly forwarding: Queued | null;
}

const historyOf = async ({ id, failed, queued }: StoredEvent, store: EventStore): Promise<History> => ({
  arrivals: await store.arrivals(id),
  forwards: await store.forwards(id),
  failed,
  forwarding: queued,
});

/** The event's own line, with its history. */
const eventDocument = (event: WebhookEvent, history: History): string =>
  `${eventLine(event).slice(0, -1)},${JSON.stringify(history).slice(1)}`;

const rejectionDocument = ({ request, verdict, ...rejection }: StoredRejection): string =>
  JSON.stringify({ ...rejection, check: failedCheck(verdict), request: request && requestDocument(request) });

function eventText(
  event: WebhookEvent,
  { arrivals, forwards, failed, forwarding }: History,
  { out: { paint, width }, named }: Pick<Context, "out" | "named">,
  command: string | undefined,
): string {
  const { request, receivedAt, id } = event;
  const lines = [
    renderWebhook(event, { paint, width, transactionCommand: command }),
    ...requestLines(request, paint),
    verificationText(event, paint),
    `  ${paint.cyan("deliveries")}`,
    `    ${formatLocal(receivedAt)}  ${id}`,
  ];
  for (const arrival of arrivals)
    lines.push(`    ${formatLocal(arrival.receivedAt)}  ${arrival.id}  ${paint.yellow("repeated")}`);
  if (forwards.length > 0 || forwarding !== null) lines.push(`  ${paint.cyan("forwards")}`);
  for (const forward of forwards) lines.push(renderForward(formatLocal(forward.at), forward, paint));
  if (failed) lines.push(`    ${failedWords(id, forwards.length, { paint, named })}`);
  else if (forwarding !== null) lines.push(`    ${queuedWords(forwarding, paint)}`);
  return lines.join("\n");
}

function failedWords(id: string, attempts: number, { paint, named }: { paint: Paint; named: Named }): string {
  const words = paint.red(`failed after ${attempts === 1 ? "1 attempt" : `${attempts} attempts`}`);
  return `${words}: ${renderCommand(paylink("events", "replay", id, "--to", "<target>"), named)}   delivers it`;
}

function queuedWords({ state, attempts, next, skippedAt }: Queued, paint: Paint): string {
  if (state === "skipped" && skippedAt !== undefined)
    return paint.yellow(`skipped at ${formatLocal(skippedAt)}: never forwarded`);
  if (next === null) return paint.yellow("waits for its first attempt");
  return paint.yellow(`waits for attempt ${attempts + 1}, due at ${formatLocal(next)}`);
}

function rejectionText(rejection: StoredRejection, { out: { paint }, named }: Context): string {
  const { request, id, receivedAt } = rejection;
  const verification = verificationText(rejection, paint);
  return [
    renderRejection(`${clockTime(receivedAt)} ${id}`, rejection, paint),
    ...(request === null ? [] : requestLines(request, paint)),
    ...(verification === "" ? [] : [verification]),
    `  ${renderCommand(paylink("verify", "--event", id), named)}   explains it`,
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

interface Judged {
  readonly verdict: Verdict | null;
  readonly request: HttpRequest | null;
  readonly receivedAt: Date;
}

/** As `verify` shows it. Nothing was verified of a request that was refused before. */
function verificationText({ verdict, request, receivedAt }: Judged, paint: Paint): string {
  if (verdict === null || request === null) return "";
  const steps = {
    checks: checksOf({ verdict, request, now: Math.floor(receivedAt.getTime() / 1000) }),
    warnings: verdict.warnings,
    signatureBase: baseOf({ verdict, request }),
  };
  return renderSteps(steps, request, "the address it was verified against", paint).replace(/^(?=.)/gm, "  ");
}
