/** The writing half of an event store: turns events, forwards and rejections into writes for the next group commit. */
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import {
  firstDelivery,
  type EventLog,
  type Forward,
  type NewEvent,
  type Rejection,
  type StoreResult,
} from "../../receiver/events.ts";
import type { GroupCommit } from "../group-commit.ts";
import { NO_ANSWER, type EventWrite, type ForwardWrite, type RejectionWrite, type Write } from "./writes.ts";

/** `owner` tells this log's claims from those of others. */
export function createEventLog(group: GroupCommit<Write, StoreResult | null>, owner: string): EventLog {
  return {
    append: async (event, claimUntil) =>
      (await group.add(eventWrite(event, owner, claimUntil))) ?? firstDelivery(event.id),
    lookUp: async (first, now) =>
      (await group.add({ type: "look-up", first, owner, now: now.getTime() })) ?? firstDelivery(first),
    forwarded: async (first, forward) => void (await group.add(forwardWrite(first, forward, owner))),
    reject: async (rejection) => void (await group.add(rejectionWrite(rejection))),
  };
}

function eventWrite(
  { id, receivedAt, record, request, json }: NewEvent,
  owner: string,
  claimUntil: Date | undefined,
): EventWrite {
  return {
    type: "event",
    id,
    uti: (record && textOf(record, "uti")) ?? "",
    receivedAt: receivedAt.getTime(),
    columns: [
      record === null ? "" : outcomeOf(record),
      (record && textOf(record, "reference")) ?? "",
      request.method,
      request.scheme,
      request.authority,
      request.target,
      json.headers,
      JSON.stringify(request.trailers ?? []),
      json.verdict,
    ],
    body: ownBytes(request.body),
    owner,
    claimUntil: claimUntil?.getTime() ?? null,
  };
}

function forwardWrite(
  first: string,
  { at, target, status, ms, detail }: Forward,
  owner: string,
): ForwardWrite {
  const columns = [at.getTime(), target, status ?? NO_ANSWER, Math.round(ms), detail];
  return { type: "forward", first, owner, columns };
}

function rejectionWrite(rejection: Rejection): RejectionWrite {
  const { id, receivedAt, code, status, detail, checks, request } = rejection;
  return {
    type: "rejection",
    columns: [
      id,
      receivedAt.getTime(),
      code,
      status,
      detail,
      JSON.stringify(checks),
      request?.method ?? null,
      request?.scheme ?? null,
      request?.authority ?? null,
      request?.target ?? null,
      request === null ? null : JSON.stringify(request.headers),
      request === null ? null : JSON.stringify(request.trailers ?? []),
      request === null ? null : ownBytes(request.body),
    ],
  };
}

/** A copy: a view of a larger buffer would be posted with all of that buffer. */
const ownBytes = (body: Uint8Array): Uint8Array => new Uint8Array(body);
