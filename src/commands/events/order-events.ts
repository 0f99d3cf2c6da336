/** `paylink events retry`, `skip` and `accept`: what operators decide about single events, or all that are not delivered. */
import { plural, wordFor } from "../../values/plural.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint, paylink } from "../../domain/hint.ts";
import type { RefusalCode } from "../../domain/reasons.ts";
import { bodyIsKept, type Rejection } from "../../events/event.ts";
import type { EventStore } from "../../store/event-store.ts";
import type { OperatorOrder } from "../../store/writes.ts";
import { renderHint } from "../../render/hint.ts";
import { renderCompactRecord } from "../../render/transaction-record.ts";
import { safeText } from "../../render/safe-text.ts";
import { openJudgeAgain, openRunKeys } from "../judge-again.ts";
import type { ValuesOf } from "../command.ts";
import { isConfirmed, saidNo } from "../shared-flags.ts";
import type { acceptFlags, retryFlags } from "./command.ts";
import { keysOf, otherKeyWords, ownEvents } from "./other-keys.ts";
import { findEvents, MOST_COUNTED, utiOrId } from "./stored-events.ts";

type Uti = { readonly uti: readonly string[] };

const GO_OUT = hint`To forward what is due, keep this running: ${paylink`listen --ack stored --forward-to <target>`}`;

/** Those that are named, or all that failed or wait, and are selected. */
export async function retryEvents(
  context: Context,
  values: ValuesOf<typeof retryFlags> & Uti,
): Promise<number> {
  const { uti: names, all: _, key, db, ...selection } = values;
  const { out } = context;
  const store = await context.events(db, { upgrade: true });
  const found = await findOpen(store, names, "retry");
  const keys = await openRunKeys(context, key, "retry", () => keysOf(store, found));
  const chosen = ownEvents(found, keys, "retry").map(({ id }) => id);
  const isAll = names.length === 0;
  const others = isAll
    ? await store.count({ ...selection, state: "open", otherThan: keys }, MOST_COUNTED)
    : found.length - chosen.length;
  const own = isAll
    ? (await store.count({ ...selection, state: "open" }, MOST_COUNTED)) - others
    : chosen.length;
  const { length: due } = await store.retry(isAll ? selection : { ids: chosen }, keys);
  const busy = Math.max(0, own - due);
  const isNone = due + busy + others === 0;
  out.result(
    { due, unchanged: busy, otherKey: others },
    !isNone && (due > 0 || busy === 0)
      ? `${plural(due, "event is", "events are")} due to be forwarded.`
      : undefined,
  );
  if (isNone) out.note("No event waits or has failed. Nothing was changed.");
  if (others > 0) out.note(otherKeyWords(others));
  if (busy > 0)
    out.note(
      `${plural(busy, "event")} not changed: ${wordFor(busy, "it is", "they are")} already due, or being forwarded at this moment.`,
    );
  if (due > 0) out.note(renderHint(GO_OUT, context.named));
  return 0;
}

export async function skipEvents(
  context: Context,
  { uti, db }: Uti & { readonly db: string | undefined },
): Promise<number> {
  const { out } = context;
  const store = await context.events(db, { upgrade: true });
  const found = await findOpen(store, uti, "skip");
  for (const event of found) {
    const { record } = event.content;
    out.note(record === null ? safeText(utiOrId(event)) : renderCompactRecord(record, out.notePaint));
  }
  const what = plural(found.length, "event");
  if (
    !(await isConfirmed(context, `Skip ${what}? paylink will not tell your application about the payment.`))
  )
    return saidNo(context);
  const skipped = await store.skip({ ids: found.map(({ id }) => id) });
  const [busy] = found.filter(({ id }) => !skipped.includes(id)).map(utiOrId);
  if (skipped.length > 0) {
    const names = found.filter(({ id }) => skipped.includes(id)).map(utiOrId);
    const command = paylink`events retry ${names}`;
    out.result({ skipped: skipped.length }, `Skipped ${plural(skipped.length, "event")}.`);
    out.note(renderHint(hint`To forward it after all: ${command}`, context.named));
  }
  if (busy !== undefined)
    throw new PaylinkError(
      "usage",
      `${busy} was not skipped: it is skipped already, or is being forwarded at this moment.`,
      { hints: [hint`To see how it ended: ${paylink`events show ${busy}`}`] },
    );
  return 0;
}

/** Finds every event before the first is changed. Throws `usage` for those that have nothing to wait for. */
async function findOpen(store: EventStore, names: readonly string[], order: OperatorOrder) {
  const found = await findEvents(store, names, order);
  const delivered = found.find(({ delivery }) => delivery?.state === "delivered");
  if (delivered === undefined) return found;
  const name = utiOrId(delivered);
  throw new PaylinkError("usage", `Your application has accepted ${name} already.`, {
    effect: order,
    hints: [hint`To send it once more: ${paylink`events replay ${name} --to <target>`}`],
  });
}

type AcceptValues = ValuesOf<typeof acceptFlags> & { readonly id: readonly string[] };

/** Judges rejected webhooks again with the keys of today, as of their receipt, and stores those that verify. */
export async function acceptEvents(
  context: Context,
  { id: names, key, db, ...policyFlags }: AcceptValues,
): Promise<number> {
  const { out } = context;
  const again = await openJudgeAgain(context, { key, ...policyFlags });
  const accepted: string[] = [];
  let [refused, reason, otherTerminal] = [0, "", 0];
  const store = await context.events(db, { upgrade: true });
  const found = names.length === 0 ? store.rejections() : await findRejections(store, names);
  for await (const rejection of found) {
    if (!bodyIsKept(rejection)) continue;
    // It verified, and was rejected for another reason: it is accepted only if the user names it.
    if (names.length === 0 && rejection.code === ("terminal_mismatch" satisfies RefusalCode)) {
      otherTerminal += 1;
      continue;
    }
    const judged = again.judge(rejection);
    if (typeof judged === "string") {
      refused += 1;
      reason = judged;
    } else {
      await store.accept(judged);
      accepted.push(rejection.id);
    }
  }
  const verify = plural(refused, "does not verify", "do not verify");
  out.result(
    { accepted, refused, otherTerminal },
    accepted.length > 0 ? `Accepted ${plural(accepted.length, "event")}.` : undefined,
  );
  if (accepted.length > 0) {
    out.note(renderHint(GO_OUT, context.named));
    if (refused > 0) out.note(`${verify}: they stay rejected.`);
  } else if (refused > 0 && names.length === 0) out.note(`${verify}: nothing was accepted.`);
  else if (refused + otherTerminal === 0) out.note("There is no rejected webhook.");
  if (otherTerminal > 0)
    out.note(
      `${plural(otherTerminal, "of another terminal stays", "of another terminal stay")} rejected. To accept one, name its id.`,
    );
  if (names.length > 0 && refused > 0)
    throw new PaylinkError(
      "signature_rejected",
      `${verify} with the keys that are configured now: ${reason}.`,
      {
        hints: [hint`To see why: ${paylink`verify --event ${names.slice(0, 1)} ${{ "--key": key }}`}`],
      },
    );
  return 0;
}

async function findRejections(store: EventStore, names: readonly string[]): Promise<Rejection[]> {
  const rejections: Rejection[] = [];
  for (const name of names) {
    const found = await store.findOne(name);
    if (found.type === "event")
      throw new PaylinkError("usage", `${name} was not rejected: it is stored as an event.`);
    if (!bodyIsKept(found)) throw notKept(name, found);
    rejections.push(found);
  }
  return rejections;
}

const notKept = (name: string, { status, code }: Rejection): PaylinkError =>
  new PaylinkError(
    "usage",
    `${name} was rejected with ${status} ${code} before its body was read, so its body was not kept.`,
    {
      hints: ["Fix the cause, such as the path (--path), and have the service send the webhook again."].map(
        (text) => [text],
      ),
    },
  );
