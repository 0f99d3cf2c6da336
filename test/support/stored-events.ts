/** Events, rejections and forwards to store, and what tests read of those that are stored. */
import { OUTCOMES } from "../../src/domain/outcome.ts";
import { readRecord } from "../../src/domain/transaction.ts";
import type { DeliveryQueue, Forward, NewEvent, Rejection, RunKeys } from "../../src/events/event.ts";
import { idAt } from "../../src/events/event-id.ts";
import { verify } from "../../src/signatures/verify.ts";
import { sealOf } from "../../src/store/seal.ts";
import { vectorFile, type WebhookCase, webhookOptions, webhookRequest } from "./vectors.ts";

const { vectors } = vectorFile<{ vectors: WebhookCase[] }>("webhook-positive");
export const vector = vectors[0] as WebhookCase;
export const genuine = webhookRequest(vector);
export const verdict = verify(genuine, webhookOptions(vector));
/** The keys of a run that has the vector's key. */
export const KEYS: RunKeys = [verdict.key?.thumbprint ?? ""];
export const AT = new Date("2026-11-21T10:00:00.123Z");

/** An id of this time, as receivers make them. */
export const idOf = (name: string, at = AT): string => `${idAt(at)}${name}`;

/** The seal of an event that is stored once more with another id, which is its digest too. */
export const sealWithId = (row: Readonly<Record<string, unknown>>, id: string): string =>
  sealOf({ ...row, id, digest: id, received_at: Number(row["received_at"]) });

/** An event whose uti and bytes differ from those of every other id. */
export function event(id: string, record: Record<string, unknown> = {}, receivedAt = AT): NewEvent {
  const body = Buffer.from(
    JSON.stringify({
      uti: `uti-${id}`,
      transApproved: true,
      transCancelled: false,
      reference: "INV-1",
      ...record,
    }),
  );
  const request = { ...genuine, body };
  return { type: "event", id, receivedAt, verdict, request, content: readRecord(request.body), keys: KEYS };
}

export const rejection = (id: string, size = 10): Rejection => ({
  type: "rejected",
  id,
  receivedAt: AT,
  code: "signature_invalid",
  status: 401,
  detail: "no",
  verdict: {
    ...verdict,
    verdict: "invalid",
    code: "signature_invalid",
    failure: { check: "signature-value", detail: "no" },
  },
  request: { ...genuine, body: Buffer.alloc(size, 1) },
});

export const forward = (status: number): Forward => ({
  at: AT,
  target: "http://127.0.0.1:3000/",
  status,
  failure: null,
  ms: 12,
  detail: "",
  reply: { headers: [], text: "" },
});

/** An attempt without an answer. */
export const unanswered = (detail = ""): Forward => ({
  ...forward(500),
  status: null,
  failure: "refused",
  detail,
  reply: null,
});

/** What a forwarder asks the queue for: by default, ten events of any kind for a minute. */
export const wanted = (parts: { limit?: number; lease?: number } = {}) => ({
  limit: 10,
  outcomes: OUTCOMES,
  keys: KEYS,
  lease: 60_000,
  ...parts,
});

export async function all<T>(found: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of found) list.push(one);
  return list;
}

export const idsOf = (found: readonly { readonly id: string }[]): string[] => found.map(({ id }) => id);
export const ids = async (found: AsyncIterable<{ readonly id: string }>): Promise<string[]> =>
  idsOf(await all(found));

/** What waits and what has failed, of all keys. */
export async function backlogOf(store: Pick<DeliveryQueue, "backlog">) {
  const { keys } = await store.backlog();
  const sum = (of: "events" | "failed"): number => keys.reduce((total, one) => total + one[of], 0);
  const [oldest] = keys
    .flatMap((one) => one.oldest ?? [])
    .toSorted((one, other) => one.getTime() - other.getTime());
  return { events: sum("events"), failed: sum("failed"), oldest };
}
