/** The writing half of an event store: turns events, forwards and rejections into writes for the next group commit. */
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import type { HttpRequest } from "../../http/message.ts";
import {
  type EventLog,
  firstDelivery,
  type Forward,
  type ForwardPlan,
  type NewEvent,
  type Rejection,
  type StoreResult,
} from "../../receiver/events.ts";
import { storedVerdict } from "../../signatures/stored-verdict.ts";
import type { GroupCommit } from "../group-commit.ts";
import {
  type EventWrite,
  type ForwardWrite,
  NO_ANSWER,
  type RejectionWrite,
  type StoredMessage,
  type Write,
} from "./writes.ts";

/** `owner` distinguishes the claims of this log from those of others. */
export function createEventLog(group: GroupCommit<Write, StoreResult | null>, owner: string): EventLog {
  return {
    append: async (event, plan) =>
      (await group.add(eventWrite(event, owner, plan))) ?? firstDelivery(event.id),
    lookUp: async (first, now) =>
      (await group.add({ type: "look-up", first, owner, now: now.getTime() })) ?? firstDelivery(first),
    forwarded: async (first, forward) =>
      void (await group.add({ type: "forward", ...forwardValues(first, forward, owner) })),
    reject: async (rejection) => void (await group.add(rejectionWrite(rejection))),
  };
}

function eventWrite(
  { id, receivedAt, record, verdict, request }: NewEvent,
  owner: string,
  plan: ForwardPlan | undefined,
): EventWrite {
  const { code, warnings, details } = storedVerdict(verdict);
  return {
    type: "event",
    id,
    uti: (record && textOf(record, "uti")) ?? "",
    receivedAt: receivedAt.getTime(),
    outcome: record === null ? "" : outcomeOf(record),
    reference: (record && textOf(record, "reference")) ?? "",
    code,
    warnings: warnings.join(),
    details: JSON.stringify(details),
    ...messageOf(request),
    owner,
    claimUntil: plan instanceof Date ? plan.getTime() : null,
    queued: plan === "queue",
  };
}

export const forwardValues = (
  first: string,
  { at, target, status, ms, detail }: Forward,
  owner: string,
): Omit<ForwardWrite, "type"> => ({
  first,
  owner,
  at: at.getTime(),
  target,
  status: status ?? NO_ANSWER,
  ms: Math.round(ms),
  detail,
});

const rejectionWrite = ({
  id,
  receivedAt,
  code,
  status,
  detail,
  checks,
  request,
}: Rejection): RejectionWrite => ({
  type: "rejection",
  id,
  receivedAt: receivedAt.getTime(),
  code,
  status,
  detail,
  checks: JSON.stringify(checks),
  message: request && messageOf(request),
});

function messageOf(request: HttpRequest): StoredMessage {
  const { method, scheme, authority, target, headers, trailers = [], body } = request;
  return {
    method,
    scheme,
    authority,
    target,
    headers: JSON.stringify(headers),
    trailers: JSON.stringify(trailers),
    // A copy: a view would be posted to the thread with all of its buffer.
    body: new Uint8Array(body),
  };
}
