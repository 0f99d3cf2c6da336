/** `paylink events replay --compare`: sends stored events to another build, and shows where its answers differ from the recorded ones. */
import { plural, wordFor } from "../../values/plural.ts";
import type { Context } from "../../context.ts";
import { namesBroker } from "../../receiver/brokers/addresses.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint, paylink } from "../../domain/hint.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import type { Forward } from "../../events/event.ts";
import { targetOf } from "../../receiver/outcome-routes.ts";
import { type Cell, listedTime, renderListing, NO_VALUE } from "../../render/layout.ts";
import { safeJson, safeText } from "../../render/safe-text.ts";
import { recordAmount, paintOutcome } from "../../render/transaction-record.ts";
import type { StoredEvent } from "../../events/history.ts";
import type { RecordedAnswer } from "../../store/event-rows.ts";
import { otherKeyWords } from "./other-keys.ts";
import { nothingAnswers, openReplay, type ReplayValues, untargetedWords } from "./sending.ts";
import { utiOrId } from "./stored-events.ts";

/** An event whose answer differs. */
interface Difference {
  readonly event: StoredEvent;
  readonly recorded: RecordedAnswer;
  readonly forward: Forward;
  /** Why the answer was probably given. */
  readonly cause: string | undefined;
}

/** How many events were compared, and how many not. */
interface Counts {
  compared: number;
  differ: number;
  /** The target was not reached, so there is nothing to compare. */
  unreached: number;
  /** No attempt of a listener has an answer. */
  unanswered: number;
  /** `--to` names no target for their outcome. */
  untargeted: number;
}

export async function compareAnswers(context: Context, values: ReplayValues): Promise<number> {
  const { out, signal } = context;
  const { to: routes, quiet, strict } = values;
  const { store, events, others, send } = await openReplay(context, values);
  const counts: Counts = { compared: 0, differ: 0, unreached: 0, unanswered: 0, untargeted: 0 };
  const rows: Cell[][] = [];
  let first: Difference | undefined;
  let unreachedCause: string | undefined;
  for await (const event of events) {
    signal.throwIfAborted();
    const url = targetOf(routes, outcomeOf(event.content.record));
    const recorded = url && (await store.recordedAnswer(event.id));
    // That a broker has confirmed an event says nothing of the application.
    if (url === undefined || recorded === undefined || namesBroker(recorded.target)) {
      counts[url === undefined ? "untargeted" : "unanswered"]++;
      continue;
    }
    const { result, forward, cause } = await send(event, url);
    if (result.kind === "notReached") {
      counts.unreached++;
      unreachedCause = cause;
    } else {
      counts.compared++;
      const difference = { event, recorded, forward, cause };
      if (!isSameAnswer(recorded.status, forward.status, strict)) {
        counts.differ++;
        first ??= difference;
        out.line(() => differenceLine(difference), quiet ? safeText(utiOrId(event)) : undefined);
        if (!out.json && !quiet) rows.push(differenceCells(difference, context));
      }
    }
    out.progress(`${plural(counts.compared + counts.unreached, "event")} sent, ${counts.differ} differ`);
    signal.throwIfAborted();
  }
  out.progress(undefined);
  if (rows.length > 0) out.lines([renderListing(DIFFERENCE_TITLES, rows, out)]);
  out.line({ type: "summary", ...counts, otherKey: others }, undefined);
  if (others > 0) out.warn(otherKeyWords(others));
  if (counts.untargeted > 0) out.warn(untargetedWords(counts.untargeted));
  if (counts.unanswered > 0)
    out.warn(
      `${plural(counts.unanswered, "event")} not sent: no answer of an application is recorded for ${wordFor(counts.unanswered, "it", "them")}.`,
    );
  const targets = routes.map(({ url }) => url.href).join(" and ");
  if (first !== undefined) throw differing(first, counts, targets);
  if (counts.unreached > 0)
    throw nothingAnswers(
      targets,
      `${counts.unreached} of ${plural(counts.compared + counts.unreached, "event")} not compared`,
      unreachedCause,
    );
  if (!quiet)
    out.note(
      counts.compared === 0
        ? "No matching event has a recorded answer. Nothing was compared."
        : `${targets} answers ${plural(counts.compared, "event")} as recorded.`,
    );
  return 0;
}

/** The service sends again what is not answered with 2xx, so by default only the class of the status counts. */
const isSameAnswer = (recorded: number, now: number | null, isStrict: boolean): boolean =>
  now !== null && (isStrict ? now === recorded : Math.floor(now / 100) === Math.floor(recorded / 100));

const DIFFERENCE_TITLES = ["RECEIVED", "OUTCOME", "AMOUNT", "REFERENCE", "UTI", "RECORDED", "NOW", "ANSWER"];

function differenceCells(
  { event, recorded, forward: { status, detail }, cause }: Difference,
  context: Context,
): Cell[] {
  const { paint } = context.out;
  const { record } = event.content;
  const outcome = outcomeOf(record);
  return [
    { text: listedTime(event.receivedAt, context), paint: paint.dim },
    { text: outcome, paint: () => paintOutcome(outcome, paint) },
    { text: record === null ? NO_VALUE : recordAmount(record), right: true },
    { text: event.reference || NO_VALUE },
    { text: utiOrId(event) },
    { text: String(recorded.status) },
    { text: status === null ? "none" : String(status), paint: paint.red },
    { text: detail === "" ? (cause ?? "") : detail },
  ];
}

function differenceLine({ event, recorded, forward, cause }: Difference): string {
  const { target, status, ms, detail } = forward;
  const { id, uti, outcome, reference } = event;
  const answer = { target, status, ms, detail, hint: cause };
  return safeJson(JSON.stringify({ type: "difference", id, uti, outcome, reference, recorded, ...answer }));
}

function differing({ event, cause }: Difference, counts: Counts, targets: string): PaylinkError {
  const rest =
    counts.unreached === 0
      ? ""
      : ` ${plural(counts.unreached, "event")} not compared: the target was not reached.`;
  return new PaylinkError(
    "records_differ",
    `${targets} answers ${counts.differ} of ${plural(counts.compared, "event")} differently than recorded.${rest}`,
    {
      hints: [
        ...(cause === undefined ? [] : [[cause]]),
        hint`To see what was answered before and now: ${paylink`events show ${event.id}`}`,
      ],
    },
  );
}
