/** How `paylink events replay` sends stored events again: which ones, with which signature, and how each attempt ended. */
import { PaylinkError } from "../../domain/errors.ts";
import { plural } from "../../values/plural.ts";
import type { Context } from "../../context.ts";
import { type ForwardingKey, openForwardingKey } from "../../sender/signing-key.ts";
import { type ForwardAttempt, makeAttempt, type Deliver } from "../../receiver/attempt.ts";
import { openTargets } from "../../receiver/brokers/targets.ts";
import { likelyCause } from "../../render/likely-cause.ts";
import type { EventStore } from "../../store/event-store.ts";
import type { StoredEvent } from "../../events/history.ts";
import type { ValuesOf } from "../command.ts";
import { openRunKeys } from "../judge-again.ts";
import { forwardingKeyWords } from "../shared-flags.ts";
import type { replayFlags } from "./command.ts";
import { keysOf, ownEvents } from "./other-keys.ts";
import { findEvents, MOST_COUNTED } from "./stored-events.ts";

export type ReplayValues = ValuesOf<typeof replayFlags> & { readonly uti: readonly string[] };

/** That no request reached the target, and what was not done for that. */
export const nothingAnswers = (targets: string, left: string, cause: string | undefined): PaylinkError =>
  new PaylinkError("not_reached", `Nothing answers at ${targets}: ${left}.`, {
    hints: [[cause ?? "Start your application, or name another address with --to."]],
  });

/** What is said of events for whose outcome there is no target. */
export const untargetedWords = (count: number): string =>
  `${plural(count, "event")} not sent: --to names no target for the outcome.`;

interface ReplayAttempt extends ForwardAttempt {
  /** Why the application probably did not accept it. */
  readonly cause: string | undefined;
}

export interface Replay {
  readonly store: EventStore;
  /** The chosen events that keys of this run have verified. */
  readonly events: AsyncIterable<StoredEvent> | Iterable<StoredEvent>;
  /** How many of the chosen events another key has verified. */
  readonly others: number;
  /** Sends an event, and records the attempt as a replay. */
  readonly send: (event: StoredEvent, url: URL) => Promise<ReplayAttempt>;
}

/** Throws where an event that is named is not there or not of this run's keys, and where a key or a target cannot be used. */
export async function openReplay(context: Context, values: ReplayValues): Promise<Replay> {
  const { out, now, timers, later } = context;
  const { uti: names, to: routes, failed: isFailed, insecure, signWith, key, quiet, settle } = values;
  const store = await context.events(values.db, { upgrade: true });
  const named = await findEvents(store, names, "replay");
  const keys = await openRunKeys(context, key, "replay", () => keysOf(store, named));
  const { deliver, close } = await openTargets(routes, { ...context, insecure });
  later(close);
  // A broker has an exchange of its own.
  const bounded: Deliver = (request, options, url) =>
    context.timeLimit.exchange(
      options.timeout,
      (timeout = options.timeout) => deliver(request, { ...options, timeout }, url),
      (result) => result.kind === "answered" || (result.kind === "noAnswer" && result.sent),
    );
  const filter = { ...values, state: isFailed ? ("failed" as const) : undefined };
  const own = ownEvents(named, keys, "replay");
  // A key is made only for an event that it signs.
  let signing: ForwardingKey | undefined;
  return {
    store,
    events: names.length === 0 ? store.events({ ...filter, keys }) : own,
    others:
      names.length === 0
        ? await store.count({ ...filter, otherThan: keys }, MOST_COUNTED)
        : named.length - own.length,
    send: async (event, url) => {
      if (signWith !== undefined && signing === undefined) {
        signing = await openForwardingKey(signWith, context);
        if (!quiet) out.note(forwardingKeyWords(signing));
      }
      const made = await makeAttempt(event, url, {
        deliver: bounded,
        now,
        timers,
        headers: [],
        insecure,
        timeout: values.forwardTimeout,
        signWith: signing?.key,
        keys: () => keys,
      });
      await store.replayed(event.id, made.forward, settle);
      const ownKey = signing && (signing.publicPath ?? signing.path);
      return { ...made, cause: likelyCause({ genuine: [made.forward] }, { ownKey, comesAgain: false }) };
    },
  };
}
