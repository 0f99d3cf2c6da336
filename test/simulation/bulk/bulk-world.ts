/** A simulated world of `bulk`: machines that send lists with one memory or without each other's, an odd service, and all that can go wrong. */
import { type SendOptions, SendTimeout } from "../../../src/http/exchange.ts";
import type { HttpReply, HttpRequest } from "../../../src/http/message.ts";
import type { Again } from "../../../src/bulk/plan.ts";
import { type Database, IN_MEMORY, rollBack } from "../../../src/store/sqlite/connection.ts";
import { openDatabase } from "../../../src/store/sqlite/open.ts";
import { type All, SQLITE, type Transact } from "../../../src/store/dialects.ts";
import { schemaStepsOf } from "../../../src/store/schema.ts";
import { sql } from "../../../src/store/sql.ts";
import { LEASE } from "../../../src/store/sent-rows.ts";
import { statementsOf } from "../../../src/store/sqlite/event-file.ts";
import { Trace } from "../trace.ts";
import { settle, VirtualTime } from "../virtual-time.ts";
import { CHECKED_LISTS } from "./lists.ts";
import { FATES, type Fate, type FateName, isCreation, keyOfRequest, OddService } from "./odd-service.ts";
import { Payments } from "./payments.ts";
import { Run, TIMEOUT } from "./run.ts";

export interface BulkWorldSetup {
  /** For each machine, by how many milliseconds its clock is ahead. */
  readonly machines: readonly number[];
  /** Whether each machine has a memory of its own, so that only the service tells what the others have sent. */
  readonly areAlone: boolean;
  readonly refusesDuplicates: boolean;
}

/** Milliseconds that something waits at most: a statement for the database, a request for the service, a reply for its reader. */
const LONGEST = { statement: 500, answer: 15_000, request: 2_000, reply: 5_000 };
const BEGIN = new Date("2026-11-21T10:00:00Z").getTime();

/** A transaction of a run that has not begun. */
interface Statement {
  readonly run: Run;
  readonly since: number;
  readonly begin: () => Promise<() => void>;
  readonly fail: (error: Error) => void;
}

/** Something that a run has not heard yet. */
interface News {
  readonly run: Run;
  readonly since: number;
  readonly hear: () => void;
}

/** A request on its way to the service. */
interface Exchange {
  readonly run: Run;
  readonly since: number;
  readonly request: HttpRequest;
  readonly resolve: (reply: HttpReply) => void;
  readonly reject: (error: Error) => void;
}

export class BulkWorld {
  readonly time = new VirtualTime();
  readonly trace = new Trace(this.time);
  readonly #service: OddService;
  readonly #memories: readonly { readonly database: Database; readonly all: All }[];
  readonly #payments: Payments;
  readonly #skews: number[];
  readonly #runs: (Run | undefined)[];
  #statements: Statement[] = [];
  #answers: News[] = [];
  #requests: Exchange[] = [];
  #replies: News[] = [];
  #number = 0;

  constructor({ machines, areAlone, refusesDuplicates }: BulkWorldSetup) {
    this.#skews = [...machines];
    this.#runs = machines.map(() => undefined);
    this.#service = new OddService(refusesDuplicates);
    this.#memories = machines.slice(0, areAlone ? machines.length : 1).map(() => {
      const database = openDatabase(IN_MEMORY, schemaStepsOf("sentRows", SQLITE));
      return { database, all: statementsOf(database) };
    });
    this.#payments = new Payments(this.trace, this.#service, this.#memories.length);
  }

  close(): void {
    for (const run of this.#runs) if (run !== undefined) run.isAlive = false;
    for (const { database } of this.#memories) database.close();
  }

  // What runs are given.

  dateOf(skew: number): Date {
    return new Date(BEGIN + this.time.elapsed + skew);
  }

  transact<T>(run: Run, work: Parameters<Transact>[0]): Promise<T>;
  transact(run: Run, work: Parameters<Transact>[0]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!run.isAlive) return;
      const begin = async (): Promise<() => void> => {
        const memory = this.#memories[run.memory];
        if (memory === undefined) throw new RangeError("There is no such memory.");
        const { database, all } = memory;
        database.exec("BEGIN IMMEDIATE");
        try {
          const result = await work({ dialect: SQLITE, all, now: Math.floor(BEGIN + this.time.elapsed) });
          database.exec("COMMIT");
          return () => resolve(result);
        } catch (error) {
          rollBack(database);
          throw error;
        }
      };
      this.#statements.push({ run, since: this.time.elapsed, begin, fail: reject });
    });
  }

  send(
    run: Run,
    request: HttpRequest,
    { timeout = TIMEOUT, signal, finish }: SendOptions = {},
  ): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const exchange: Exchange = { run, since: this.time.elapsed, request, resolve, reject };
      this.#requests.push(exchange);
      if (finish !== true) signal?.addEventListener("abort", () => reject(signal.reason as Error));
      this.time
        .timersOf(() => run.isAlive)
        .after(timeout, () => reject(new SendTimeout("the service did not answer in time", true)));
    });
  }

  /** A run begins to send. */
  planned(run: Run): void {
    this.#payments.planned(run);
  }

  // What can happen, in any order.

  /** Somebody sends a list on a machine that sends none. */
  start(place: number, index: number, again: Again | undefined): Run | undefined {
    const machine = place % this.#skews.length;
    const list = CHECKED_LISTS[index % CHECKED_LISTS.length];
    const memory = machine % this.#memories.length;
    if (list === undefined || this.#runs[machine]?.isRunning() === true) return undefined;
    // What another memory has in flight, nobody can know.
    if (this.#isSending(memory)) return undefined;
    const name = `run ${++this.#number} on machine ${machine}`;
    const run = new Run(this, { name, memory, list, again }, () => this.#skews[machine] ?? 0);
    this.#runs[machine] = run;
    this.trace.say(
      `${name} begins with list ${index % CHECKED_LISTS.length}${again === undefined ? "" : ` --again ${again}`}`,
    );
    run.start().then(
      () => this.#ended(run),
      (error: unknown) => {
        // Before anything is sent, what cannot be read ends the run.
        if (run.planned !== undefined) this.trace.broken(`${name} failed: ${String(error)}`);
        run.isHeldUp = true;
        this.trace.say(`${name} ends: ${String(error)}`);
      },
    );
    return run;
  }

  /** Whether anything may still be made that is not in this memory. */
  #isSending(memory: number | undefined): boolean {
    return (
      this.#runs.some((run) => run?.isRunning() === true && run.memory !== memory) ||
      this.#requests.some(({ run, request }) => run.memory !== memory && isCreation(request))
    );
  }

  /** Somebody makes a link with `create`, or another program does. */
  create(place: number, amount: number): void {
    if (this.#isSending(undefined)) return;
    const link = this.#service.add(`O${1 + (place % 4)}`, 10 * (1 + (place % 4)) + (amount % 2));
    this.#payments.createdByHand(link);
    this.trace.say(`somebody makes ${link.id} of ${link.key} over ${link.amount}`);
  }

  /**
   * The database runs one of the transactions that wait. `late`: its answer is heard later. `lost`: the run crashes before it hears
   * the answer. `failed`: nothing is written. `unknown`: it is written, and the connection breaks before the answer.
   */
  async commit(index: number, end: "ok" | "late" | "lost" | "failed" | "unknown" = "ok"): Promise<void> {
    const statement = this.#statements[index % Math.max(1, this.#statements.length)];
    if (statement === undefined) return;
    const { run, begin, fail } = statement;
    this.#statements = this.#statements.filter((one) => one !== statement);
    if (end !== "ok") this.trace.say(`the database answers ${run.name}: ${end}`);
    if (end === "failed") return fail(new Error("the disk is full"));
    const hear = await begin();
    if (end === "unknown") fail(new Error("the connection to the database was closed"));
    else if (end === "lost") this.#crash(run);
    else if (end === "late") this.#answers.push({ run, since: this.time.elapsed, hear });
    else hear();
  }

  /** A run hears what the database answered. */
  hear(index: number): void {
    this.#answers = this.#deliver(this.#answers, index);
  }

  /** A request reaches the service, or not; what comes back is on its way. */
  arrive(index: number, name: FateName): void {
    const exchange = this.#requests[index % Math.max(1, this.#requests.length)];
    if (exchange === undefined) return;
    this.#requests = this.#requests.filter((one) => one !== exchange);
    const { run, request, resolve, reject } = exchange;
    const fate: Fate = FATES[name];
    const before = this.#service.links.length;
    const reply = fate.acts ? this.#service.act(request) : undefined;
    const [created] = this.#service.links.slice(before);
    if (created !== undefined) this.#payments.created(created.id, run);
    this.trace.say(
      `${request.method} ${request.target} of ${run.name} ${name}${created === undefined ? "" : `: ${created.id} of ${created.key}`}`,
    );
    if (isCreation(request) && !fate.isClear) this.#payments.isOpen(run, keyOfRequest(request));
    const { end } = fate;
    if (end === "silence") return;
    const hear = (): void => {
      if (end instanceof Error) reject(end);
      else if (end !== "reply") resolve(end);
      else if (reply !== undefined) resolve(reply);
    };
    this.#replies.push({ run, since: this.time.elapsed, hear });
  }

  /** A run hears what the service answered. */
  answer(index: number): void {
    this.#replies = this.#deliver(this.#replies, index);
  }

  #deliver(news: News[], index: number): News[] {
    const one = news[index % Math.max(1, news.length)];
    if (one?.run.isAlive === true) one.hear();
    return news.filter((other) => other !== one);
  }

  /** A customer pays a link, or somebody cancels it at the service. */
  endLink(index: number, status: "paid" | "cancelled" | "expired"): void {
    const active = this.#service.links.filter((one) => one.status === "active");
    const link = active[index % Math.max(1, active.length)];
    if (link === undefined) return;
    this.trace.say(`${link.id} of ${link.key} is ${status}`);
    link.status = status;
  }

  /** Time passes, with all that is due meanwhile. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.time.elapsed + milliseconds;
    for (;;) {
      const [next, happen] = this.#next();
      if (next > end || this.trace.isBroken()) break;
      this.time.elapsed = Math.max(this.time.elapsed, next);
      await happen();
      await settle();
    }
    this.time.elapsed = Math.max(this.time.elapsed, end);
  }

  /** What happens next by itself, and when. */
  #next(): readonly [at: number, happen: () => void | Promise<void>] {
    const after = (waiting: readonly { readonly since: number }[], longest: number): number =>
      (waiting[0]?.since ?? Number.POSITIVE_INFINITY) + longest;
    const all = [
      [after(this.#statements, LONGEST.statement), () => this.commit(0)],
      [after(this.#answers, LONGEST.answer), () => this.hear(0)],
      [after(this.#requests, LONGEST.request), () => this.arrive(0, "is done")],
      [after(this.#replies, LONGEST.reply), () => this.answer(0)],
      [this.time.next(), () => this.time.fire()],
    ] as const;
    return all.reduce((first, one) => (one[0] < first[0] ? one : first));
  }

  crash(place: number): void {
    const run = this.#runs[place % this.#runs.length];
    if (run?.isRunning() === true) this.#crash(run);
  }

  /** What it has sent may still arrive. */
  #crash(run: Run): void {
    this.trace.say(`${run.name} crashes`);
    run.isAlive = false;
    this.#statements = this.#statements.filter((one) => one.run !== run);
  }

  /** Somebody presses Ctrl-C. */
  interrupt(place: number): void {
    const run = this.#runs[place % this.#runs.length];
    if (run?.isRunning() !== true) return;
    this.trace.say(`${run.name} is interrupted`);
    run.interrupt();
  }

  setClock(place: number, skew: number): void {
    this.#skews[place % this.#skews.length] = skew;
  }

  // What must hold.

  /** Throws if something does not hold. */
  async check(): Promise<void> {
    const attempts = await Promise.all(this.#memories.map(({ all }) => all(sql`SELECT * FROM sent_rows`)));
    this.#payments.checkLinks(attempts);
    for (const run of this.#runs)
      if (run !== undefined) this.#payments.checkClaims(run, attempts[run.memory] ?? []);
    this.trace.check();
  }

  async #ended(run: Run): Promise<void> {
    this.trace.say(`${run.name} ends${run.isHeldUp ? " without sending anything" : ""}`);
    for (const [at, { status, id }] of run.end?.outcomes ?? [])
      this.trace.say(`  ${run.list.keys[at]} is ${status} ${id ?? ""}`);
    const attempts = await this.#memories[run.memory]?.all(sql`SELECT * FROM sent_rows`);
    this.#payments.checkEnd(run, attempts ?? []);
  }

  /** The faults end; every row must be sent that can be, and every unknown one found or sent. */
  async finish(): Promise<void> {
    this.trace.say("the faults have ended");
    await this.#untilAllEnd();
    await this.pass(LEASE + 1);
    // A link of unknown outcome may be found with another amount, and its row is then sent as changed.
    for (const again of ["unknown", "changed"] as const) await this.#sendAll(again);
    const run = await this.#sendAll("unknown");
    if (run !== undefined) this.#checkNothingLost(run);
    await this.check();
  }

  async #sendAll(again: Again): Promise<Run | undefined> {
    const run = this.start(0, 0, again);
    await settle();
    await this.#untilAllEnd();
    return run;
  }

  async #untilAllEnd(): Promise<void> {
    const end = this.time.elapsed + 300_000;
    await settle();
    while (this.#runs.some((run) => run?.isRunning() === true)) {
      if (this.time.elapsed > end) {
        this.trace.broken("a run does not end");
        break;
      }
      await this.pass(1_000);
    }
    await this.check();
  }

  /** After the last run, each row has a link, or is named. */
  #checkNothingLost(run: Run): void {
    if (run.end === undefined || run.end.reason !== undefined)
      this.trace.broken(`${run.name} did not send its list: ${String(run.end?.reason)}`);
    for (const [at, key] of run.list.keys.entries()) {
      const outcome = run.end?.outcomes.get(at);
      const state = outcome?.status ?? run.planned?.[at]?.link?.state ?? "lost";
      const links = this.#service.links.filter((link) => link.key === key);
      const isNamed = state === "unknown" || state === "absent" || state === "in flight";
      const isRefused = state === "refused" && links.length > 0;
      if (links.length === 0 && !isNamed) this.trace.broken(`${key} has no link, and is ${state} in the end`);
      if (state !== "created" && !isNamed && !isRefused) this.trace.broken(`${key} is ${state} in the end`);
      // A row without a number cannot be looked for.
      const isOther = links.some((link) => link.amount !== String(run.list.amounts[at]));
      if (isNamed && links.length === 0 && key.startsWith("O"))
        this.trace.broken(`${key} was not sent again`);
      if (isNamed && key.startsWith("O") && !isOther && links.length > 0)
        this.trace.broken(`${key} is still unknown, and has ${links.map(({ id }) => id).join()}`);
    }
  }
}
