/** The event store of `listen`: opened, waited for where its server is away, and kept from growing. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { messageOf } from "../../values/system-reason.ts";
import type { EventStore } from "../../store/event-store.ts";
import { jsonLine } from "../../events/event-json.ts";
import { deletedWords } from "../../render/received-webhook.ts";

/** Milliseconds between tries to reach the database. */
const DATABASE_RETRY = 1_000;

/** A database that may be away when `listen` starts. */
export interface DatabaseWatch {
  /** Throws what waiting does not mend: a wrong address, a refused login, a missing database or permission. */
  readonly isThere: () => Promise<boolean>;
  /** Resolves with true once it was used, or with false if the run is over before. */
  readonly until: (over: Promise<void>) => Promise<boolean>;
}

/** `use` rejects while the database is away, which is said once. */
export function watchDatabase(use: () => Promise<void>, warn: (text: string) => void): DatabaseWatch {
  let isSaid = false;
  const isThere = async (): Promise<boolean> => {
    try {
      await use();
      return true;
    } catch (error) {
      if (!(error instanceof PaylinkError) || error.code !== "database_unreachable") throw error;
      if (!isSaid) warn(`Waiting for the database, and answering webhooks with 503. ${error.message}`);
      isSaid = true;
      return false;
    }
  };
  return {
    isThere,
    until: async (over) => {
      const isOver = over.then(() => "over" as const);
      for (;;) {
        const found = await Promise.race([isOver, isThere()]);
        if (found !== false) return found === true;
        await Promise.race([isOver, sleep(DATABASE_RETRY, undefined, { ref: false })]);
      }
    },
  };
}

/** Milliseconds between batches, in which webhooks are stored. */
const BATCH_PAUSE = 100;
/** Milliseconds between looks for old events. */
const DELETE_EVERY = 60_000;

/**
 * Deletes what is older than `keep` milliseconds, while webhooks are received. Several receivers delete different batches.
 * The result ends it, and resolves when nothing is being deleted any more. A clock that is ahead deletes nothing: the time is that of
 * the newest event.
 */
export function startDeleting(
  keep: number,
  store: Pick<EventStore, "prune" | "newestAt">,
  { now, out }: Pick<Context, "now" | "out">,
): () => Promise<void> {
  const closing = new AbortController();
  const { signal } = closing;
  const pause = (milliseconds: number): Promise<void> => sleep(milliseconds, undefined, { signal });
  const run = async (): Promise<void> => {
    for (;;) {
      try {
        const newest = (await store.newestAt()) ?? now();
        const before = new Date(Math.min(newest.getTime(), now().getTime()) - keep);
        const deleted = await store.prune(before, () => pause(BATCH_PAUSE));
        if (deleted.events + deleted.rejections > 0) {
          out.line(() => jsonLine("deleted", now(), { before, ...deleted }), undefined);
          out.note(`Deleted ${deletedWords(deleted, before)}`);
        }
      } catch (error) {
        if (signal.aborted) return;
        out.warn(`Old events are kept until they can be deleted: ${messageOf(error)}`);
      }
      await pause(DELETE_EVERY);
    }
  };
  // The pause rejects at the end.
  const running = run().catch(() => undefined);
  return async () => {
    closing.abort();
    await running;
  };
}
