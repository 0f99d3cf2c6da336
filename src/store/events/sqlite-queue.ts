/** The queue of events to forward in SQLite. Its times are from the clock of this machine, which all its users share. */
import type { ForwardQueue } from "../../receiver/event-store.ts";
import type { GroupCommit } from "../group-commit.ts";
import { forwardValues } from "./event-log.ts";
import { EVENT_COLUMNS, readable, type UseDatabase } from "./event-queries.ts";
import { queuedEventFromRow } from "./event-rows.ts";
import type { QueueWrite } from "./writes.ts";

interface SqliteQueueParts {
  readonly group: Pick<GroupCommit<QueueWrite, unknown>, "add">;
  readonly use: UseDatabase;
  readonly owner: string;
  readonly now: () => Date;
}

export function createSqliteQueue({ group, use, owner, now }: SqliteQueueParts): ForwardQueue {
  const time = (): number => now().getTime();
  return {
    lease: async (duration) => {
      const asked = time();
      await group.add({ type: "lease", owner, now: asked, expires: asked + duration });
      return use((database) => {
        const row = database.prepare("SELECT epoch FROM forwarder WHERE owner = ?").get(owner);
        return row === undefined ? undefined : Number(row["epoch"]);
      });
    },
    release: async (epoch) => void (await group.add({ type: "release", owner, epoch })),
    // CROSS JOIN makes SQLite read the queue in the order of its index: with a million events 0.2 ms instead of 300 ms.
    next: (epoch, kind, limit) =>
      use((database) =>
        database
          .prepare(
            `SELECT ${EVENT_COLUMNS} FROM queue CROSS JOIN events ON events.id = queue.event
         WHERE queue.state = ? AND queue.due <= ?
           AND EXISTS (SELECT 1 FROM forwarder WHERE owner = ? AND epoch = ? AND expires > ?)
         ORDER BY queue.due, queue.seq LIMIT ?`,
          )
          .all(kind, time(), owner, epoch, time(), limit)
          .map(readable(database, queuedEventFromRow)),
      ),
    untilRetry: () =>
      use((database) => {
        const due = database.prepare("SELECT min(due) AS due FROM queue WHERE state = 'retry'").get()?.[
          "due"
        ];
        return due == null ? undefined : Number(due) - time();
      }),
    attempted: async (epoch, { id, queued }, forward, retryAfter) => {
      const due = retryAfter === undefined ? null : time() + retryAfter;
      const attempts = queued?.attempts ?? 0;
      await group.add({ type: "attempt", ...forwardValues(id, forward, owner), epoch, attempts, due });
    },
    backlog: () =>
      use((database) => {
        const { events, oldest } =
          database
            .prepare(
              "SELECT count(*) AS events, min(received_at) AS oldest FROM queue WHERE state <> 'failed'",
            )
            .get() ?? {};
        return { events: Number(events), oldest: oldest == null ? undefined : new Date(Number(oldest)) };
      }),
  };
}
