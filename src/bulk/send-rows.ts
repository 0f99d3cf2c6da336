/** The second pass over a list: sends each remaining row once, and writes its outcome to disk. */
import type { PaymentLinkRequest } from "../domain/payment-link-values.ts";
import { PaylinkError, type FailureCode, type Problem } from "../domain/errors.ts";
import { stringifyJson } from "../domain/json.ts";
import { REUSABLE_LIFETIME } from "../domain/payment-link.ts";
import { addDuration } from "../domain/time.ts";
import { SandboxNotRunning } from "../http/exchange.ts";
import type { Pace } from "./pace.ts";
import { problemsText, requestOf, type BuildRequest, type Row } from "./row.ts";
import type { Intent, Outcome, PlannedRow, SentRows, Status } from "./sent-rows.ts";

/** A created link, as far as the run needs it. */
export interface Created {
  readonly link: Pick<Outcome, "id" | "url">;
  /** The rules of the specification that the answer breaks. */
  readonly violations: readonly Problem[];
}

/** A row that this run sends. */
export interface DueRow extends Pick<PlannedRow, "number"> {
  readonly row: Row;
}

export interface RunParts {
  readonly rows: AsyncIterable<DueRow>;
  readonly sent: Pick<SentRows, "write">;
  readonly pace: Pace;
  readonly build: BuildRequest;
  /** Sends one request, once. */
  readonly create: (request: PaymentLinkRequest) => Promise<Created>;
  readonly concurrency: number;
  readonly now: () => Date;
  /** Ends the run: running requests are completed, and no more are sent. */
  readonly stop: (reason: unknown) => void;
  readonly stopped: () => boolean;
  /** Called for each outcome, once it is on disk or the disk has not taken it at the end. */
  readonly settled: (row: Row, outcome: Outcome, request: PaymentLinkRequest | null) => void;
  /** Called for each answer that created a link and breaks the specification. */
  readonly violated: (row: Row, violations: readonly Problem[]) => void;
}

/** Attempts to send one row while it is certain that no link was created. */
const ATTEMPTS = 6;
/**
 * Rows for each request that are written together as about to be sent: a sync of the disk for each row would take longer than
 * the service (bulk bench). A kill may leave each of them unknown, besides those in flight.
 */
const ROWS_AHEAD = 2;
/** Milliseconds that an outcome may wait for the next rows, to be written with them. */
const LATEST = 100;
/** The run stops after this many rows of unknown outcome in a row, to avoid more of them. */
const MAX_UNKNOWN = 20;

/** The rows of the list that the plan has as due. */
export async function* dueRows(
  rows: AsyncIterable<Row>,
  planned: Iterator<PlannedRow, undefined>,
): AsyncGenerator<DueRow> {
  for await (const row of rows) {
    const { value } = planned.next();
    if (value?.isDue === true) yield { row, ...value };
  }
}

/** Resolves when every row in progress is settled, however the run ended. */
export const sendRows = (parts: RunParts): Promise<void> => new Sending(parts).run();

/** A row and how often the service was not reached with it. */
interface Waiting extends DueRow {
  readonly attempts: number;
}

/** A row of which it is on disk that it is about to be sent. */
interface Ready extends Waiting {
  readonly request: PaymentLinkRequest;
}

interface Settled extends DueRow {
  readonly outcome: Outcome;
  /** Null if it can no longer be sent. */
  readonly request: PaymentLinkRequest | null;
  /** The row may be sent again in this run. */
  readonly isOpen?: boolean;
}

class Sending {
  private readonly parts: RunParts;
  private readonly queue: AsyncIterator<DueRow>;
  private readonly ready: Ready[] = [];
  /** Rows that were not sent, or did not reach the service. */
  private readonly again: Waiting[] = [];
  /** Outcomes that are not on disk yet. */
  private readonly settled: Settled[] = [];
  private timer: NodeJS.Timeout | undefined;
  private filling: Promise<boolean> | undefined;
  private unknownInARow = 0;

  constructor(parts: RunParts) {
    this.parts = parts;
    this.queue = parts.rows[Symbol.asyncIterator]();
  }

  async run(): Promise<void> {
    const { concurrency } = this.parts;
    await Promise.all(Array.from({ length: concurrency }, () => this.guarded(() => this.work())));
    for (const row of this.ready.splice(0)) this.postpone(row, { status: "not_sent" });
    await this.guarded(async () => this.write([]));
    // What the disk did not take is in the results all the same.
    this.report();
  }

  /** Whatever fails ends the run. */
  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.parts.stop(error);
    }
  }

  private async work(): Promise<void> {
    for (let row = await this.next(); row !== undefined; row = await this.next()) await this.send(row);
  }

  private async next(): Promise<Ready | undefined> {
    const { stopped } = this.parts;
    while (this.ready.length === 0) {
      if (stopped()) return undefined;
      this.filling ??= this.fill().finally(() => (this.filling = undefined));
      if (!(await this.filling)) return undefined;
    }
    return this.ready.shift();
  }

  /** Takes the next rows, and writes that they are about to be sent. False if there are none. */
  private async fill(): Promise<boolean> {
    const { concurrency, pace, build, now } = this.parts;
    // At a rate, each row waits for its time: only then it is about to be sent.
    const most = pace.isLimited ? 1 : concurrency * ROWS_AHEAD;
    const rows: Ready[] = [];
    const intents: Intent[] = [];
    while (rows.length < most) {
      const waiting = this.again.pop() ?? (await this.pull());
      if (waiting === undefined || !(await pace.waitToSend())) break;
      const { row, number } = waiting;
      // Built for each attempt: a duration counts from the time of sending, and an expiry may have passed.
      const time = now();
      const { request, problems, meant } = requestOf(row, build, time);
      if (request === null) {
        this.settle({ ...waiting, request, outcome: { status: "refused", error: problemsText(problems) } });
        continue;
      }
      rows.push({ ...waiting, request });
      const expires = expiryOf(request, time);
      intents.push({ number, request: stringifyJson(meant), sent: time.getTime(), expires });
    }
    this.write(intents);
    this.ready.push(...rows);
    return rows.length > 0;
  }

  private async pull(): Promise<Waiting | undefined> {
    const { done, value } = await this.queue.next();
    return done === true ? undefined : { ...value, attempts: 0 };
  }

  private async send(row: Ready): Promise<void> {
    if (!this.parts.pace.isOpen()) return this.postpone(row, { status: "not_sent" });
    const outcome = await this.attempt(row);
    const attempts = row.attempts + 1;
    if (outcome.status === "not_reached" && attempts < ATTEMPTS) this.postpone({ ...row, attempts }, outcome);
    else this.settle({ ...row, outcome });
  }

  /** An unexpected error leaves the outcome unknown and ends the run. */
  private async attempt({ row, request }: Ready): Promise<Outcome> {
    const { create, violated, stop, stopped, pace } = this.parts;
    const since = pace.now();
    try {
      const { link, violations } = await create(request);
      if (violations.length > 0) violated(row, violations);
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
      const status = stopped() && error.code === "timed_out" ? "not_sent" : statusOf(error.code);
      this.judge(error, status, since);
      return { status, error: said };
    }
  }

  /** Applies a failure to the whole run, unless it has ended, before the next request is sent. */
  private judge(failure: PaylinkError, status: Status, since: number): void {
    const { pace, stop, stopped } = this.parts;
    if (stopped()) return;
    if (status !== "not_reached") pace.answered();
    // A stopped sandbox does not start while the run waits.
    else if (failure.cause instanceof SandboxNotRunning || !pace.slowDown(since, failure)) stop(failure);
    this.unknownInARow = status === "unknown" ? this.unknownInARow + 1 : 0;
    const affectsEveryRow = failure.code === "unauthorized" || failure.code === "redirected";
    if (affectsEveryRow || this.unknownInARow >= MAX_UNKNOWN) stop(failure);
  }

  private postpone(row: Ready, outcome: Outcome): void {
    this.again.push(row);
    this.settle({ ...row, outcome, isOpen: true });
  }

  /** The outcome is written with the next rows, or alone if they take their time. */
  private settle(settled: Settled): void {
    this.settled.push(settled);
    this.timer ??= setTimeout(() => void this.guarded(async () => this.write([])), LATEST);
  }

  /** Both are on disk when it returns. After a failure, the outcomes are written with the next ones. */
  private write(intents: readonly Intent[]): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { settled } = this;
    if (settled.length + intents.length === 0) return;
    this.parts.sent.write(settled, intents);
    this.report();
  }

  private report(): void {
    for (const { row, outcome, request, isOpen } of this.settled.splice(0))
      if (isOpen !== true) this.parts.settled(row, outcome, request);
  }
}

/** When the link can no longer be paid, in ms since 1970. */
const expiryOf = ({ expirationDate }: PaymentLinkRequest, now: Date): number =>
  expirationDate === undefined ? addDuration(now, REUSABLE_LIFETIME).getTime() : Date.parse(expirationDate);

/** The status of a row after a failure to create its link. */
function statusOf(code: FailureCode): Status {
  switch (code) {
    case "refused":
    case "unauthorized":
    case "redirected":
      return "refused";
    case "not_reached":
    case "timed_out":
    case "overloaded":
    case "no_token":
    case "no_profile":
    case "usage":
      return "not_reached";
    case "interrupted":
    case "terminated":
      return "not_sent";
    default:
      return "unknown";
  }
}
