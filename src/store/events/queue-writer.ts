/** The statements that change the queue of SQLite, in the thread that writes events. */
import type { Database } from "../database.ts";
import type { AttemptWrite, LeaseWrite, ReleaseWrite } from "./writes.ts";

interface QueueWriter {
  /** Adds an event that the application has not accepted. One that failed stays failed. */
  readonly add: (first: string, receivedAt: number) => void;
  readonly remove: (first: string) => void;
  readonly lease: (write: LeaseWrite) => void;
  readonly release: (write: ReleaseWrite) => void;
  /** Plans the next attempt. False if the lease was lost, the attempt is already recorded, or the event has left the queue. */
  readonly attempted: (write: AttemptWrite) => boolean;
}

export function prepareQueue(database: Database): QueueWriter {
  const add = database.prepare(
    `INSERT INTO queue (event, received_at) SELECT ?, ?
     WHERE NOT EXISTS (SELECT 1 FROM forwards WHERE event = ? AND status BETWEEN 200 AND 299)
     ON CONFLICT (event) DO NOTHING`,
  );
  const remove = database.prepare("DELETE FROM queue WHERE event = ?");
  const lease = database.prepare(
    `UPDATE forwarder SET epoch = epoch + (owner <> ?), owner = ?, expires = ? WHERE owner = ? OR expires <= ?`,
  );
  const release = database.prepare("UPDATE forwarder SET expires = 0 WHERE owner = ? AND epoch = ?");
  const plan = database.prepare(
    `UPDATE queue SET state = ?, attempts = attempts + 1, due = ?
     WHERE event = ? AND attempts = ? AND EXISTS (SELECT 1 FROM forwarder WHERE owner = ? AND epoch = ?)`,
  );
  return {
    add: (first, receivedAt) => void add.run(first, receivedAt, first),
    remove: (first) => void remove.run(first),
    lease: ({ owner, now, expires }) => void lease.run(owner, owner, expires, owner, now),
    release: ({ owner, epoch }) => void release.run(owner, epoch),
    attempted: ({ first, attempts, due, owner, epoch }) => {
      const state = due === null ? "failed" : "retry";
      return plan.run(state, due ?? 0, first, attempts, owner, epoch).changes !== 0;
    },
  };
}
