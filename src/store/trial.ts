/** Writes that are tried out and rolled back: a store that takes no event, attempt or rejection must not say that it is ready. */
import type { Transact } from "./dialects.ts";
import { type Sql, sql } from "./sql.ts";
import { writeAll } from "./write-group.ts";
import { attemptValues, type EventWrite, rejectionWrite, type Write } from "./writes.ts";

/** Resolves if the store takes what a receiver writes. `proof` is a statement that is committed afterwards. */
export const tryWrites = (transact: Transact, proof?: Sql): Promise<void> =>
  transact(async (session) => {
    await session.all(sql`SAVEPOINT trial`);
    await writeAll(session, TRIAL);
    await session.all(sql`ROLLBACK TO SAVEPOINT trial`);
    if (proof !== undefined) await session.all(proof);
  });

/** No event has such an id, and no key this name. */
const trialEvent = (id: string, more: Partial<EventWrite> = {}): EventWrite => ({
  type: "event",
  id,
  receivedAt: 0,
  key: "trial",
  keys: ["trial"],
  verdict: "{}",
  method: "POST",
  scheme: "http",
  authority: "",
  target: "/",
  headers: "[]",
  body: new Uint8Array(),
  lease: 1,
  isKnown: false,
  print: null,
  ...more,
});

const unanswered = {
  at: new Date(0),
  target: "",
  status: null,
  failure: "other",
  ms: 0,
  detail: "",
  reply: null,
} as const;

/** Together they write a row of each table. */
const TRIAL: readonly Write[] = [
  trialEvent("trial 1"),
  trialEvent("trial 2"),
  trialEvent("trial 3", { key: "another trial", acceptedBy: "trial" }),
  {
    type: "end",
    claim: { id: "trial 1", attempt: 1 },
    at: 0,
    values: attemptValues("trial 1", unanswered, false),
    isAccepted: false,
    retry: 1,
  },
  rejectionWrite({
    type: "rejected",
    id: "trial 4",
    receivedAt: new Date(0),
    code: "not_found",
    status: 404,
    detail: "",
    verdict: null,
    request: null,
  }),
];
