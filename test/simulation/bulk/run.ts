/** One run of `bulk` in a simulated world: the real plan, claims, pace, client and statements, over a network and a clock that are not. */
import { NOT_SHARED } from "../../../src/settings/token-files.ts";
import { attemptsOf } from "../../../src/bulk/attempts.ts";
import { isHeldUp, plan, type Again, type PlannedRow } from "../../../src/bulk/plan.ts";
import { runList, type ListEnd } from "../../../src/bulk/run.ts";
import { PaylinkError } from "../../../src/domain/errors.ts";
import { passed } from "../../../src/values/timers.ts";
import type { Send } from "../../../src/http/exchange.ts";
import { openApi } from "../../../src/service/open-client.ts";
import type { Transact } from "../../../src/store/dialects.ts";
import { createMemory, type Memory, type SentKey } from "../../../src/store/sent-rows.ts";
import type { BulkWorld } from "./bulk-world.ts";
import { type CheckedList, SETTINGS } from "./lists.ts";

export const CONCURRENCY = 2;
const LOOK_BACK = 90 * 86_400_000;
/** Milliseconds that one exchange may take. */
export const TIMEOUT = 30_000;

export class Run {
  readonly name: string;
  /** Which of the memories it has. */
  readonly memory: number;
  readonly list: CheckedList;
  readonly again: Again | undefined;
  /** False once it has crashed. */
  isAlive = true;
  /** Undefined until it has been planned. */
  planned: readonly PlannedRow[] | undefined;
  /** Something keeps the list from being sent. */
  isHeldUp = false;
  /** Undefined until it ends. */
  end: ListEnd | undefined;
  /** What it has claimed, and not settled. */
  readonly claimed = new Set<string>();
  readonly #world: BulkWorld;
  readonly #skew: () => number;
  readonly #interruption = new AbortController();

  constructor(
    world: BulkWorld,
    { name, memory, list, again }: Pick<Run, "name" | "memory" | "list" | "again">,
    skew: () => number,
  ) {
    this.#world = world;
    this.name = name;
    this.memory = memory;
    this.list = list;
    this.again = again;
    this.#skew = skew;
  }

  isRunning(): boolean {
    return this.isAlive && this.end === undefined && !this.isHeldUp;
  }

  interrupt(): void {
    this.#interruption.abort(new PaylinkError("interrupted", "Interrupted."));
  }

  async start(): Promise<void> {
    const { signal } = this.#interruption;
    const { rows, rowContext } = this.list;
    const { again } = this;
    const now = (): Date => this.#world.dateOf(this.#skew());
    const timers = this.#world.time.timersOf(() => this.isAlive);
    const send: Send = (request, options) => this.#world.send(this, request, options);
    const parts = {
      send,
      now,
      timers,
      random: () => 0.5,
      pause: (milliseconds: number) => passed(timers, milliseconds, signal),
      signal,
      settings: SETTINGS,
      timeout: TIMEOUT,
      timeLeft: () => Number.POSITIVE_INFINITY,
      waiting: () => undefined,
      sharedToken: () => NOT_SHARED,
      awaiting: () => undefined,
    };
    const memory = this.#memory();
    const api = async () => openApi({ ...parts, retries: true });
    const { byKey, found, failure } = await attemptsOf({
      rows,
      memory,
      service: rowContext.service,
      results: [],
      api,
      lookBack: LOOK_BACK,
      now: now(),
    });
    for (const attempt of found) await memory.settle(attempt, { ...attempt, state: "created" });
    const planned = plan(rows, byKey, { again, allowDuplicates: false, isOfLinks: false });
    this.planned = planned;
    // Where the service could not be read, nothing is sent.
    this.isHeldUp =
      failure !== undefined ||
      planned.some((row) => row.state === "twice" || row.state === "invalid" || isHeldUp(row, again));
    if (this.isHeldUp) return;
    this.#world.planned(this);
    this.end = await runList({
      rows,
      planned,
      rowContext,
      memory,
      api: openApi({ ...parts, retries: false }),
      now,
      timers,
      random: () => 0.5,
      signal,
      concurrency: CONCURRENCY,
      rate: undefined,
      paused: () => undefined,
      settled: () => undefined,
      violated: () => undefined,
    });
  }

  /** The real memory, which also notes what the run has in flight. */
  #memory(): Memory {
    const transact: Transact = (work) => this.#world.transact(this, work);
    const memory = createMemory(transact, {
      place: "the world",
      isLocal: false,
      close: async () => undefined,
    });
    return {
      ...memory,
      claim: async (claim) => {
        const isOwn = await memory.claim(claim);
        if (isOwn) this.claimed.add(attemptText(claim));
        return isOwn;
      },
      settle: (key, settled) => {
        this.claimed.delete(attemptText(key));
        return memory.settle(key, settled);
      },
    };
  }
}

export const attemptText = ({ key, occurrence, attempt }: SentKey): string =>
  [key, occurrence, attempt].join(" ");
