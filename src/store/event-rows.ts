/** Rows of the event tables, of SQLite and PostgreSQL alike, parsed into stored events, rejections, arrivals and attempts. */
import * as z from "zod/mini";
import { OUTCOMES } from "../domain/outcome.ts";
import { isReason, isWarning, type Reason, type Warning } from "../domain/reasons.ts";
import { messageOf } from "../values/system-reason.ts";
import { LateRecord } from "../domain/transaction.ts";
import { withBody } from "../http/message.ts";
import { SEND_FAILURES } from "../http/send-failure.ts";
import type { Claimed, ForwardState, Rejection } from "../events/event.ts";
import type { Action, Arrival, StoredAttempt, StoredEvent } from "../events/history.ts";
import { ALGORITHM, LABEL } from "../signatures/policy.ts";
import { CHECKS, type CheckName, type Verdict } from "../signatures/verdict.ts";
import type { Row } from "./sql.ts";
import { requireSeal } from "./seal.ts";

const storedTime = z.pipe(
  z.number(),
  z.transform((milliseconds) => new Date(milliseconds)),
);
const jsonFrom = <T extends z.ZodMiniType>(schema: T) =>
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((text): unknown => JSON.parse(text)),
    ),
    schema,
  );
const isCheck = (name: unknown): boolean =>
  name === "http" || (typeof name === "string" && Object.hasOwn(CHECKS, name));
const verdict = z.object({
  verdict: z.enum(["valid", "invalid"]),
  code: z.custom<"ok" | Reason>((code) => code === "ok" || isReason(code)),
  label: z.literal(LABEL),
  keyid: z.nullable(z.string()),
  alg: z.literal(ALGORITHM),
  created: z.nullable(z.number()),
  covered: z.array(z.string()),
  warnings: z.array(z.custom<Warning>(isWarning)),
  key: z.nullable(
    z.object({
      keyid: z.nullable(z.string()),
      number: z.number(),
      bits: z.number(),
      thumbprint: z.string(),
    }),
  ),
  failure: z.nullable(z.object({ check: z.custom<CheckName | "http">(isCheck), detail: z.string() })),
}) satisfies z.ZodMiniType<Verdict>;
export const verdictColumn = jsonFrom(verdict);
const storedHeaderLines = z.array(z.readonly(z.tuple([z.string(), z.string()])));
const head = jsonFrom(
  z.object({
    method: z.string(),
    scheme: z.enum(["http", "https"]),
    authority: z.string(),
    target: z.string(),
    headers: storedHeaderLines,
  }),
);
const stateColumn = z.nullable(z.enum(["pending", "trying", "delivered", "failed", "skipped"]));
const eventRow = z.object({
  id: z.string(),
  uti: z.string(),
  received_at: storedTime,
  outcome: z.enum(OUTCOMES),
  reference: z.string(),
  key: z.string(),
  verdict: verdictColumn,
  head,
  body: z.instanceof(Uint8Array),
  repeats: z.number(),
  state: stateColumn,
  due: z.nullable(z.number()),
  comes_again: z.nullable(z.number()),
  attempts: z.number(),
});
const rejectionRow = z.object({
  id: z.string(),
  received_at: storedTime,
  code: z.string(),
  status: z.number(),
  detail: z.string(),
  verdict: jsonFrom(z.nullable(verdict)),
  head: z.nullable(head),
  body: z.nullable(z.instanceof(Uint8Array)),
});
const claimedRow = z.object({
  id: z.string(),
  attempt: z.number(),
  made: z.number(),
  planned_as: z.string(),
  claimed_by: z.string(),
});
const arrivalRow = z.object({ id: z.string(), received_at: storedTime });
const attemptColumns = z.object({
  at: storedTime,
  target: z.string(),
  status: z.nullable(z.number()),
  ms: z.number(),
  detail: z.string(),
  failure: z.nullable(z.enum(SEND_FAILURES)),
  reply: z.nullable(jsonFrom(storedHeaderLines)),
  reply_text: z.nullable(z.string()),
  replay: z.number(),
});
const answerRow = z.object({ at: storedTime, target: z.string(), status: z.number() });
const actionRow = z.object({
  at: storedTime,
  action: z.enum(["retry", "skip", "accept"]),
  actor: z.string(),
});

/** An event that is claimed is `trying`, until the end of the attempt is written. */
export function deliveryStateOf(column: unknown): ForwardState | null {
  const state = stateColumn.parse(column);
  return state === "trying" ? "pending" : state;
}

/** Throws for a row that does not hold what paylink wrote. */
export function eventFromRow(row: Row): StoredEvent {
  const {
    received_at: receivedAt,
    state: column,
    due,
    comes_again: comesAgain,
    attempts,
    head,
    body,
    ...rest
  } = eventRow.parse(row);
  // What is done to an event is decided by its column, and shown by its verdict.
  if (rest.verdict.key?.thumbprint !== rest.key) throw new Error("its key is not the key of its verdict");
  requireSeal(row);
  const state = deliveryStateOf(column);
  const isTrying = column === "trying";
  const next = due === null || isTrying ? null : new Date(due);
  return {
    type: "event",
    receivedAt,
    repeated: false,
    ...rest,
    content: new LateRecord(body),
    delivery:
      state === null
        ? null
        : { state, attempts, isTrying, next, comesAgain: state === "failed" && comesAgain === 1 },
    request: withBody(head, body),
  };
}

export function rejectionFromRow(row: Row): Rejection {
  const { received_at: receivedAt, head, body, ...rest } = rejectionRow.parse(row);
  return { type: "rejected", receivedAt, ...rest, request: head && withBody(head, body ?? new Uint8Array()) };
}

/** `row` is that of the event, or its id alone if the event is gone. One that is damaged must not stop those behind it. */
export function claimedFromRow(row: Row): Claimed {
  const { planned_as: outcome, claimed_by: key, ...claimed } = claimedRow.parse(row);
  try {
    const event = eventFromRow(row);
    // They decide where it is sent, and by whom.
    if (event.outcome !== outcome || event.key !== key)
      throw new Error("its delivery belongs to another payment");
    return { ...claimed, event };
  } catch (error) {
    return { ...claimed, event: { damage: damageOf(error) } };
  }
}

/** Why a row cannot be read back, which does not hold what paylink wrote. */
export const damageOf = (error: unknown): string =>
  error instanceof z.core.$ZodError
    ? `it has no valid ${error.issues.map(({ path }) => path.join(".")).join(", ")}`
    : messageOf(error);

export function arrivalFromRow(row: Row): Arrival {
  const { id, received_at: receivedAt } = arrivalRow.parse(row);
  return { id, receivedAt };
}

export function attemptFromRow(row: Row): StoredAttempt {
  const { replay, reply: headers, reply_text: text, ...forward } = attemptColumns.parse(row);
  const reply = headers === null ? null : { headers, text: text ?? "" };
  return { ...forward, reply, isReplay: replay !== 0 };
}

/** An answer to an event that was forwarded. */
export type RecordedAnswer = z.infer<typeof answerRow>;

export const answerFromRow = (row: Row): RecordedAnswer => answerRow.parse(row);

export const actionFromRow = (row: Row): Action => actionRow.parse(row);
