/** Sends each due row once: claims it in the memory, creates its link, and writes what became of it. */
import { wordFor } from "../values/plural.ts";
import { PaylinkError, type FailureCode } from "../domain/errors.ts";
import type { PaymentLinkRequest } from "../domain/payment-link-shapes.ts";
import type { Timers } from "../values/timers.ts";
import { SendError } from "../http/exchange.ts";
import { isLasting } from "../http/send-failure.ts";
import type { CreatedLink } from "../service/links.ts";
import { LEASE, type Attempt, type Memory, type SentClaim } from "../store/sent-rows.ts";
import { ELSEWHERE, INTERRUPTED, type RowOutcome, type Status } from "./outcome.ts";
import type { Pace } from "./pace.ts";
import { problemsText, type RowRequest } from "./row.ts";

/** What of a new link the run needs. */
export type SentAnswer = Pick<CreatedLink, "violations" | "asksForOther" | "link">;

/** A row that this run sends. */
export interface DueRow {
  /** Its place in the list. */
  readonly at: number;
  /** What is claimed before it is sent. */
  readonly sent: SentClaim;
  /** The earlier links that are cancelled first. */
  readonly cancels: readonly string[];
  /** Whether its earlier links, which ask for another payment, cannot be paid once those are cancelled. */
  readonly isCorrection: boolean;
  /** The link that is known for it: the newest before this attempt, or that of results or the service while another run has it in flight. */
  readonly known?: Pick<Attempt, "id" | "url"> | undefined;
}

export interface SendingParts {
  readonly rows: readonly DueRow[];
  /** Rows that another run had in flight when this one began. */
  readonly elsewhere: readonly DueRow[];
  readonly memory: Pick<Memory, "claim" | "settle" | "extend" | "find">;
  readonly pace: Pace;
  readonly timers: Pick<Timers, "after">;
  /** Built for each attempt: a duration counts from the time of sending, and an expiry may have passed. */
  readonly requestOf: (row: DueRow) => Pick<RowRequest, "request" | "problems">;
  /** Sends one request, once. */
  readonly create: (request: PaymentLinkRequest) => Promise<SentAnswer>;
  /** Cancels a link, and resolves with why the row is left, in words; undefined if the link can no longer be paid. */
  readonly cancel: (id: string) => Promise<string | undefined>;
  readonly concurrency: number;
  /** Resolves after this many milliseconds, or earlier if the run stops. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Ends the run: running requests are completed, and no more are sent. */
  readonly stop: (reason: unknown) => void;
  readonly stopped: () => boolean;
  /** Called for each outcome, once it is durable or could not be made so at the end. */
  readonly settled: (row: DueRow, outcome: RowOutcome, request: PaymentLinkRequest | null) => void;
  /** Called for each answer that created a link and breaks the specification. */
  readonly violated: (row: DueRow, answer: SentAnswer) => void;
}

/** Attempts to send one row while it is certain that no link was created. */
const ATTEMPTS = 6;
/** The run stops after this many rows of unknown outcome in a row, to avoid more of them. */
const MAX_UNKNOWN = 20;
/** Milliseconds that a run waits for the rows that another one has in flight, and between two looks at them. */
const LONGEST_WAIT_ELSEWHERE = 30_000;
const LOOK = 500;

const CLAIMED_LATE: RowOutcome = {
  status: "not_reached",
  error: "The memory of what was sent took too long to answer, so the row was not sent.",
};

const otherwise = ({ payment, attempt }: Attempt, { sent }: DueRow): string =>
  attempt === sent.attempt
    ? `Another run has sent it meanwhile, for ${payment}.`
    : `It was sent before, for ${payment}.`;

/** The link that stays that of the row. */
const linkOf = ({ known }: DueRow): Pick<RowOutcome, "id" | "url"> =>
  known === undefined ? {} : { id: known.id, url: known.url };

/** What is said of a row whose earlier links were cancelled, and which has no new one. */
const withoutLink = (outcome: RowOutcome, cancelled: readonly string[]): RowOutcome => {
  const what =
    outcome.status === "unknown"
      ? "This customer may have no link that can be paid now"
      : "This customer has no link that can be paid now";
  const why =
    cancelled.length === 0
      ? ""
      : `: ${cancelled.join(", ")} ${wordFor(cancelled.length, "was", "were")} cancelled`;
  return {
    ...outcome,
    error: [outcome.error, `${what}${why}.`].filter(Boolean).join(" "),
    isWithoutLink: true,
  };
};

/** Resolves with whether every outcome is durable, when every row in progress is settled, however the run ended. */
export const sendRows = (parts: SendingParts): Promise<boolean> => new Sending(parts).run();

interface Waiting extends DueRow {
  /** How often the service was not reached with it. */
  readonly attempts: number;
  /** The links that this run has cancelled for it. */
  readonly cancelled: readonly string[];
}

class Sending {
  private readonly parts: SendingParts;
  private readonly queue: Waiting[];
  /** Rows that another run has claimed. */
  private elsewhere: DueRow[];
  /** Claims whose requests are in flight. */
  private readonly inFlight = new Set<SentClaim>();
  private readonly settling = new Set<Promise<void>>();
  private unknownInARow = 0;
  private endExtending = (): void => undefined;
  private isDurable = true;

  constructor(parts: SendingParts) {
    this.parts = parts;
    this.queue = parts.rows.map((row) => ({ ...row, attempts: 0, cancelled: [] })).toReversed();
    this.elsewhere = [...parts.elsewhere];
  }

  async run(): Promise<boolean> {
    const { stopped, sleep } = this.parts;
    this.extendLater();
    try {
      let waited = 0;
      while (this.queue.length + this.elsewhere.length > 0 && !stopped()) {
        if (this.queue.length > 0) await this.sendAll();
        else await this.guarded(() => this.look(waited >= LONGEST_WAIT_ELSEWHERE));
        if (this.queue.length > 0 || this.elsewhere.length === 0) continue;
        if (waited > 0) await sleep(LOOK);
        waited += LOOK;
      }
    } finally {
      this.endExtending();
    }
    for (const { cancelled, ...row } of this.queue)
      if (cancelled.length > 0) this.parts.settled(row, withoutLink({ status: "not_sent" }, cancelled), null);
    return this.isDurable;
  }

  private async sendAll(): Promise<void> {
    const slots = Array.from({ length: this.parts.concurrency }, () => this.guarded(() => this.work()));
    await Promise.all(slots);
    while (this.settling.size > 0) await Promise.all(this.settling);
  }

  /** Whatever fails ends the run. */
  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.parts.stop(error);
    }
  }

  private extendLater(): void {
    this.endExtending = this.parts.timers.after(LEASE / 3, () => {
      this.extendLater();
      void this.guarded(() => this.extend());
    });
  }

  private async extend(): Promise<void> {
    await Promise.all([...this.inFlight].map((sent) => this.parts.memory.extend(sent)));
  }

  private async work(): Promise<void> {
    const { pace, memory, requestOf } = this.parts;
    while (this.queue.length > 0 && (await pace.waitToSend())) {
      const row = this.queue.pop();
      if (row === undefined) return;
      const { request, problems } = requestOf(row);
      const since = pace.now();
      if (request === null) this.refuse(row, problemsText(problems));
      else if (!(await memory.claim(row.sent))) this.elsewhere.push(row);
      // Another run may take a claim that took so long for one of a run that has ended, and send the row again.
      else if (pace.now() - since > LEASE / 2) this.settle(row, CLAIMED_LATE, request);
      else if (!pace.isOpen()) this.postpone(row);
      else {
        this.inFlight.add(row.sent);
        await this.send(row, request);
        this.inFlight.delete(row.sent);
      }
    }
  }

  private refuse(row: Waiting, error: string): void {
    const outcome = { status: "refused", error } as const;
    this.parts.settled(row, row.cancelled.length > 0 ? withoutLink(outcome, row.cancelled) : outcome, null);
  }

  private async send(row: Waiting, request: PaymentLinkRequest): Promise<void> {
    const cancelled = [...row.cancelled];
    for (const id of row.cancels) {
      if (cancelled.includes(id)) continue;
      const reason = await this.parts.cancel(id);
      if (reason !== undefined) {
        // The earlier link stays the newest of the row.
        const before = cancelled.length === 0 ? "" : ` ${cancelled.join(", ")} can no longer be paid.`;
        const error = reason + before;
        return this.settle(row, { status: "not_sent", ...linkOf(row), error, isLeft: true }, request);
      }
      cancelled.push(id);
    }
    const outcome = await this.attempt(row, request);
    const attempts = row.attempts + 1;
    if (outcome.status === "not_reached" && attempts < ATTEMPTS && !this.parts.stopped())
      this.postpone({ ...row, attempts, cancelled });
    else if (outcome.status === "created" || !row.isCorrection) this.settle(row, outcome, request);
    else this.settle(row, withoutLink(outcome, cancelled), request);
  }

  /** An unexpected error leaves the outcome unknown and ends the run. */
  private async attempt(row: DueRow, request: PaymentLinkRequest): Promise<RowOutcome> {
    const { create, violated, stop, stopped, pace } = this.parts;
    const since = pace.now();
    try {
      const created = await create(request);
      const { link } = created;
      if (created.violations.length > 0) violated(row, created);
      pace.answered();
      this.unknownInARow = 0;
      return { status: "created", id: link.id, url: link.url };
    } catch (error) {
      if (!(error instanceof PaylinkError)) {
        stop(error);
        return { status: "unknown", error: String(error) };
      }
      const { message, problems, details } = error;
      const body = typeof details["body"] === "string" ? details["body"] : "";
      const said = [message, problemsText(problems), body].filter((part) => part !== "").join(" ");
      // When the time of the run has passed, a request that has not left is not sent.
      const status =
        stopped() && error.code === "timed_out" ? "not_sent" : (STATUS_AFTER[error.code] ?? "unknown");
      this.judge(error, status, since);
      return { status, error: said };
    }
  }

  /** Applies a failure to the whole run, unless it has ended, before the next request is sent. */
  private judge(failure: PaylinkError, status: Status, since: number): void {
    const { pace, stop, stopped } = this.parts;
    if (stopped()) return;
    if (status !== "not_reached") pace.answered();
    else if (
      (failure.cause instanceof SendError && isLasting(failure.cause)) ||
      !pace.slowDown(since, failure)
    )
      stop(failure);
    this.unknownInARow = status === "unknown" ? this.unknownInARow + 1 : 0;
    const affectsEveryRow = EVERY_ROW.has(failure.code);
    if (affectsEveryRow || this.unknownInARow >= MAX_UNKNOWN) stop(failure);
  }

  /** Nothing was created, and the row may be sent again, by this run or another. */
  private postpone(row: Waiting): void {
    const free = this.parts.memory.settle(row.sent, undefined);
    this.write(free.then(() => void this.queue.push(row)));
  }

  /** The outcome is written together with the next claim. */
  private settle(row: DueRow, outcome: RowOutcome, request: PaymentLinkRequest): void {
    const { memory, settled } = this.parts;
    const { status, id = null, url = null, error = null } = outcome;
    const isLink = status === "created" || status === "unknown";
    const written = memory.settle(row.sent, isLink ? { state: status, id, url, error } : undefined);
    // What could not be written is in the results all the same.
    this.write(written.finally(() => settled(row, outcome, request)));
  }

  private write(written: Promise<void>): void {
    const settling: Promise<void> = this.guarded(() =>
      written.catch((error: unknown) => {
        this.isDurable = false;
        throw error;
      }),
    ).finally(() => this.settling.delete(settling));
    this.settling.add(settling);
  }

  /** What has become of the rows that other runs had in flight: sent, without a link and free again, or unknown. */
  private async look(isLast: boolean): Promise<void> {
    const { memory, settled } = this.parts;
    const found = await memory.find([...new Set(this.elsewhere.map(({ sent }) => sent.key))]);
    const left: DueRow[] = [];
    for (const row of this.elsewhere) {
      const { occurrence, attempt, key } = row.sent;
      const known = found.filter((one) => one.key === key && one.occurrence === occurrence);
      const now = known.find((one) => one.attempt === attempt);
      // Where that run has given the row back, an earlier link is again the newest: only `--again` sends the row once more.
      const newest = now ?? known.at(-1);
      if (now?.state === "in flight" && !isLast) left.push(row);
      else if (newest !== undefined) settled(row, this.outcomeElsewhere(row, newest), null);
      else if (row.known !== undefined)
        settled(row, { status: "created", ...linkOf(row), isEarlier: true }, null);
      else this.queue.push({ ...row, attempts: 0, cancelled: [] });
    }
    this.elsewhere = left;
  }

  /** What another run has made of a row. */
  private outcomeElsewhere(row: DueRow, attempt: Attempt): RowOutcome {
    const found = attempt.state === "created" ? attempt : row.known;
    if (found === undefined) {
      const error = attempt.error ?? (attempt.state === "in flight" ? ELSEWHERE : INTERRUPTED);
      return { status: "unknown", error, isEarlier: true };
    }
    const { id, url } = found;
    return attempt.payment === row.sent.payment
      ? { status: "created", id, url, isEarlier: true }
      : { status: "not_sent", id, url, error: otherwise(attempt, row), isLeft: true };
  }
}

/** Failures that every other row would meet too. */
const EVERY_ROW: ReadonlySet<FailureCode> = new Set(["unauthorized", "redirected", "internal"]);

/** The status of a row after a failure to create its link. After any other, the link may exist. */
const STATUS_AFTER: Readonly<Partial<Record<FailureCode, Status>>> = {
  refused: "refused",
  unauthorized: "refused",
  redirected: "refused",
  not_reached: "not_reached",
  timed_out: "not_reached",
  overloaded: "not_reached",
  no_token: "not_reached",
  no_profile: "not_reached",
  usage: "not_reached",
  interrupted: "not_sent",
  terminated: "not_sent",
  internal: "not_sent",
};
