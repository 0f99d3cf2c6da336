/** A simulated world: services, receivers, one store, an application, and everything that can go wrong between them. */
import type { AttemptResult } from "../../src/receiver/attempt.ts";
import { type HttpRequest, isSuccess } from "../../src/http/message.ts";
import { CLAIM_MARGIN } from "../../src/receiver/forwarder.ts";
import { judge } from "../../src/receiver/judge.ts";
import { thumbprintsOf } from "../../src/receiver/webhook-keys.ts";
import { readKeys } from "../../src/signatures/keys.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { type Database, IN_MEMORY } from "../../src/store/database.ts";
import { type All, type Dialect, SQLITE } from "../../src/store/dialects.ts";
import { createEventStore, type EventStore } from "../../src/store/event-store.ts";
import { createSqliteWriter, openEventDatabase, statementsOf } from "../../src/store/sqlite-database.ts";
import type { WriteGroup } from "../../src/store/write-group.ts";
import type { Ordered, Told, Write, WriteResult } from "../../src/store/writes.ts";
import { type Answer, ANSWERS, type Request, TIMED_OUT, utiOf } from "./application.ts";
import { MARGIN, Receiver, type ReceiverSetup, TIMEOUT } from "./receiver.ts";
import {
  type Account,
  type Payment,
  paymentAt,
  PAYMENTS,
  SERVICE_KEYS,
  type ServiceKey,
  signerOf,
  webhookOf,
} from "./service.ts";
import { Trace } from "./trace.ts";
import { settle, VirtualTime } from "./virtual-time.ts";

export interface WorldSetup {
  readonly receivers: readonly ReceiverSetup[];
  /** Payments whose webhooks the application never answers. */
  readonly hanging: readonly number[];
}

/** Milliseconds that a write waits for the disk at most. */
const DISK = 500;
const BEGIN = new Date("2026-11-21T10:00:00Z").getTime();
/** SQLite, with the time of the world in place of the machine's. */
const DIALECT: Dialect = { ...SQLITE, now: "(SELECT milliseconds FROM temp.world_time)" };

interface PendingWrite {
  /** Undefined for an operator's. */
  readonly receiver: Receiver | undefined;
  readonly writes: readonly Write[];
  readonly since: number;
  readonly resolve: (results: readonly WriteResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/** An attempt that the application accepted while its receiver listened. */
interface Accepted {
  readonly receiver: Receiver;
  /** Its end is stored, or cannot be expected to be: the receiver crashed, or the disk failed. */
  isSettled: boolean;
  isExcused: boolean;
}

/** What the world knows of one payment. */
class Known {
  readonly payment: Payment;
  isSent = false;
  isAcknowledged = false;
  /** The ids of its events: another one only for keys that no run has together. */
  readonly events = new Set<string>();
  readonly accepted: Accepted[] = [];
  /** Of its events, those that an operator has skipped, and those that were deleted. */
  readonly skipped = new Set<string>();
  readonly pruned = new Set<string>();

  constructor(payment: Payment) {
    this.payment = payment;
  }

  /** How often the application may have accepted it. */
  allowed(): number {
    return Math.max(1, this.events.size) + this.accepted.filter(({ isExcused }) => isExcused).length;
  }
}

export class World {
  readonly time = new VirtualTime();
  readonly trace = new Trace(this.time);
  readonly payments: readonly Known[] = Array.from(
    { length: PAYMENTS },
    (_, index) => new Known(paymentAt(index)),
  );
  readonly #setup: WorldSetup;
  readonly #database: Database;
  readonly #all: All;
  readonly #write: WriteGroup;
  readonly #operator: EventStore;
  #receivers: Receiver[] = [];
  #writes: PendingWrite[] = [];
  #requests: Request[] = [];
  #ownKey: ServiceKey = SERVICE_KEYS.first;
  #numbers = 0;

  constructor(setup: WorldSetup) {
    this.#setup = setup;
    this.#database = openEventDatabase(IN_MEMORY);
    this.#database.exec(
      "CREATE TEMP TABLE world_time (milliseconds INTEGER); INSERT INTO world_time VALUES (0)",
    );
    this.#all = statementsOf(this.#database);
    this.#write = createSqliteWriter(this.#database, DIALECT);
    this.#operator = createEventStore(this.databaseOf(undefined), "operator");
  }

  async start(): Promise<void> {
    for (const setup of this.#setup.receivers) await this.#add(setup, 0);
    await settle();
  }

  close(): void {
    for (const receiver of this.#receivers) receiver.isAlive = false;
    this.#database.close();
  }

  // What receivers are given.

  dateOf(receiver: Receiver): Date {
    return new Date(BEGIN + this.time.elapsed + receiver.skew);
  }

  keyOf(account: Account): ServiceKey {
    return account === "own" ? this.#ownKey : SERVICE_KEYS.other;
  }

  /** Eight hexadecimal digits. */
  newNumber(): string {
    return (Math.imul(++this.#numbers, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
  }

  databaseOf(receiver: Receiver | undefined) {
    const write: WriteGroup = (writes) =>
      new Promise((resolve, reject) => {
        if (receiver !== undefined && !receiver.isAlive) return;
        this.#writes.push({ receiver, writes, since: this.time.elapsed, resolve, reject });
      });
    return {
      dialect: DIALECT,
      place: "the world",
      all: this.#all,
      write,
      ready: async () => undefined,
      hurry: () => undefined,
      close: async () => undefined,
    };
  }

  deliver(receiver: Receiver, webhook: HttpRequest, timeout: number): Promise<AttemptResult> {
    const uti = utiOf(webhook);
    const known = this.#known(uti);
    const signer = signerOf(webhook, known.payment);
    if (signer === undefined || !receiver.keys().includes(signer))
      this.trace.broken(`${receiver.name} forwards ${uti}, which another key has verified`);
    if (known.events.size <= 1) this.#checkAttempt(receiver, known);
    return new Promise((resolve) => {
      const request: Request = {
        uti,
        receiver,
        since: this.time.elapsed,
        end: (result) => {
          this.#requests = this.#requests.filter((one) => one !== request);
          if (receiver.isAlive) resolve(result);
        },
      };
      this.#requests.push(request);
      this.time
        .timersOf(() => receiver.isAlive && this.#requests.includes(request))
        .after(timeout, () => request.end(TIMED_OUT));
    });
  }

  #checkAttempt(receiver: Receiver, known: Known): void {
    const { uti } = known.payment;
    const other = this.#requests.find((one) => one.uti === uti && one.receiver.isAlive);
    if (other !== undefined)
      this.trace.broken(`${receiver.name} sends ${uti} while ${other.receiver.name} does`);
    if (known.accepted.length >= known.allowed())
      this.trace.broken(`${receiver.name} sends ${uti}, which the application has accepted`);
    if (known.skipped.size > 0) this.trace.broken(`${receiver.name} sends ${uti}, which is skipped`);
  }

  // What can happen, in any order.

  /** A service delivers a webhook to one of the receivers. */
  send(index: number, place: number): void {
    const known = this.payments[index % PAYMENTS];
    const receiver = this.#receivers[place % this.#receivers.length];
    if (known === undefined || receiver === undefined || !receiver.isOpen()) return;
    const { payment } = known;
    this.trace.say(`the service sends ${payment.uti} to ${receiver.name}`);
    known.isSent = true;
    const { isQueued } = receiver.setup;
    receiver.receive(webhookOf(payment, this.keyOf(payment.account))).then(
      async ({ status }) => {
        if (!receiver.isAlive) return;
        this.trace.say(`${receiver.name} answers ${payment.uti} with ${status}`);
        if (status !== 200) return;
        known.isAcknowledged = true;
        const isKept = known.events.size > 0;
        if (!isKept) this.trace.broken(`${receiver.name} acknowledged ${payment.uti}, which is not stored`);
        if (!isQueued && known.accepted.length + known.skipped.size + known.pruned.size === 0)
          this.trace.broken(
            `${receiver.name} acknowledged ${payment.uti}, which no application has accepted`,
          );
      },
      (error: unknown) => this.trace.broken(String(error)),
    );
  }

  /**
   * The disk does one of the writes that wait, and answers. `lost`: the receiver crashes before it hears the answer. `failed`:
   * nothing is written. `unknown`: it is written, and the connection to the database breaks before the answer.
   */
  async write(index: number, end: "ok" | "lost" | "failed" | "unknown" = "ok"): Promise<void> {
    const pending = this.#writes[index % Math.max(1, this.#writes.length)];
    if (pending === undefined) return;
    const { receiver, writes } = pending;
    this.#writes = this.#writes.filter((one) => one !== pending);
    const say = (results: readonly WriteResult[]): void => {
      const made = writes.flatMap((write, at) => shown(write, results[at]));
      if (made.length > 0 || end !== "ok")
        this.trace.say(`${receiver?.name ?? "the operator"} writes ${made.join(", ")}: ${end}`);
    };
    if (end === "failed") {
      say([]);
      for (const write of writes) this.#excuse(write);
      pending.reject(new Error("the disk is full"));
      return;
    }
    const results = await this.#commit(writes);
    say(results);
    if (end === "unknown") pending.reject(new Error("the connection to the database was closed"));
    else if (end === "lost" && receiver !== undefined) this.#crash(receiver);
    else pending.resolve(results);
  }

  /** The application answers one of the requests that it has. */
  answer(index: number, answer: Answer): void {
    const request = this.#requests[index % Math.max(1, this.#requests.length)];
    if (request === undefined) return;
    this.trace.say(`the application answers ${request.uti} of ${request.receiver.name}: ${answer}`);
    this.#end(request, answer);
  }

  #end(request: Request, answer: Answer): void {
    const result = ANSWERS[answer];
    const { receiver } = request;
    if (receiver.isAlive && result.kind === "answered" && isSuccess(result.status))
      this.#known(request.uti).accepted.push({ receiver, isSettled: false, isExcused: false });
    request.end(result);
  }

  /** Time passes, with all that is due meanwhile. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.time.elapsed + milliseconds;
    for (;;) {
      const disk = (this.#writes[0]?.since ?? Number.POSITIVE_INFINITY) + DISK;
      const next = Math.min(this.time.next(), disk);
      if (next > end || this.trace.isBroken()) break;
      this.time.elapsed = Math.max(this.time.elapsed, next);
      if (disk <= this.time.elapsed) await this.write(0);
      else this.time.fire();
      await settle();
    }
    this.time.elapsed = Math.max(this.time.elapsed, end);
  }

  crash(place: number): void {
    const receiver = this.#receivers[place % this.#receivers.length];
    if (receiver?.isAlive === true) this.#crash(receiver);
  }

  #crash(receiver: Receiver): void {
    this.trace.say(`${receiver.name} crashes`);
    receiver.isAlive = false;
    this.#writes = this.#writes.filter((one) => one.receiver !== receiver);
    this.#requests = this.#requests.filter((one) => one.receiver !== receiver);
    for (const { accepted } of this.payments)
      for (const one of accepted) if (one.receiver === receiver && !one.isSettled) one.isExcused = true;
  }

  /** A receiver that has crashed or ended starts again. */
  async restart(place: number): Promise<void> {
    const at = place % this.#receivers.length;
    const before = this.#receivers[at];
    if (before === undefined || before.isAlive) return;
    await this.#add(before.setup, before.skew, at);
  }

  async #add(setup: ReceiverSetup, skew: number, at = this.#receivers.length): Promise<void> {
    const kind = setup.isQueued ? "queued" : "direct";
    const receiver = new Receiver(this, `${kind}-${setup.account}-${at}.${this.#numbers}`, setup, skew);
    this.#receivers[at] = receiver;
    await receiver.start();
    this.trace.say(`${receiver.name} starts`);
  }

  /** A receiver is told to end. */
  end(place: number): void {
    const receiver = this.#receivers[place % this.#receivers.length];
    if (receiver === undefined || !receiver.isOpen()) return;
    this.trace.say(`${receiver.name} is told to end`);
    void receiver.close().then(() => {
      this.trace.say(`${receiver.name} ends`);
      for (const { payment, accepted } of this.payments)
        for (const one of accepted)
          if (one.receiver === receiver && !one.isSettled && !one.isExcused)
            this.trace.broken(`${receiver.name} ended without storing that ${payment.uti} was accepted`);
    });
  }

  setClock(place: number, skew: number): void {
    const receiver = this.#receivers[place % this.#receivers.length];
    if (receiver === undefined) return;
    this.trace.say(`the clock of ${receiver.name} is ${skew} ms ahead`);
    receiver.skew = skew;
  }

  /** The service of the merchant signs with its next key from now on. */
  rotate(): void {
    if (this.#ownKey === SERVICE_KEYS.next) return;
    this.trace.say("the service has another key");
    this.#ownKey = SERVICE_KEYS.next;
  }

  /** An operator orders for one event, or for all that wait or failed. */
  order(order: "retry" | "skip", index: number | undefined): void {
    const ids = index === undefined ? [] : [...(this.payments[index % PAYMENTS]?.events ?? [])];
    if (index !== undefined && ids.length === 0) return;
    const events: Ordered = index === undefined ? {} : { ids };
    this.trace.say(`an operator orders ${order} for ${index === undefined ? "all" : ids.join()}`);
    const keys = [SERVICE_KEYS.first, SERVICE_KEYS.next, SERVICE_KEYS.other].map((key) => key.thumbprint);
    this.#ignoreFailure(order === "retry" ? this.#operator.retry(events, keys) : this.#operator.skip(events));
  }

  /** An operator accepts what was refused, as far as the keys of an account verify it now. */
  async accept(account: Account): Promise<void> {
    const read = readKeys(this.keyOf(account).text);
    if (!read.ok) return;
    const { keys } = read.value;
    this.trace.say(`an operator accepts what was refused`);
    for await (const { id, receivedAt, request } of this.#operator.rejections()) {
      if (request === null) continue;
      const { verdict, content } = judge(request, { keys, policy: DEFAULT_POLICY, now: receivedAt });
      if (verdict.verdict !== "valid") continue;
      this.#ignoreFailure(
        this.#operator.accept({
          type: "event",
          id,
          receivedAt,
          request,
          verdict,
          content,
          keys: thumbprintsOf(keys),
        }),
      );
    }
  }

  /** An operator deletes what was received so long ago. */
  prune(age: number): void {
    this.trace.say(`an operator deletes what is older than ${age} ms`);
    this.#ignoreFailure(this.#operator.prune(new Date(BEGIN + this.time.elapsed - age)));
  }

  #ignoreFailure(work: Promise<unknown>): void {
    work.catch(() => undefined);
  }

  // What must hold.

  /** The faults end, and everything must arrive that can. */
  async finish(): Promise<void> {
    await this.#recover();
    this.trace.say("the faults have ended");
    const accounts: readonly Account[] = ["own", "other"];
    const open = accounts.filter((account) => this.#receivers.some(({ setup }) => setup.account === account));
    const unanswered = (): readonly Known[] =>
      this.payments.filter(
        ({ payment, isSent, isAcknowledged }) =>
          isSent && !isAcknowledged && open.includes(payment.account) && !this.#hangs(payment.uti),
      );
    // A claim of a receiver that has crashed ends first.
    for (let round = 0; round < 4 && unanswered().length > 0; round++) {
      for (const known of unanswered())
        this.send(
          this.payments.indexOf(known),
          this.#receivers.findIndex(({ setup }) => setup.account === known.payment.account),
        );
      await this.#run(Math.ceil(CLAIM_OF_DIRECT / 3), () => unanswered().length === 0);
    }
    const [left] = unanswered();
    if (left !== undefined) this.trace.broken(`${left.payment.uti} is not acknowledged in the end`);
    // What is being attempted is not retried: its end may be written only the second time.
    await this.#run(3_000);
    this.order("retry", undefined);
    await this.#run(500);
    await this.#arriveInTime();
    // What is still claimed would be sent once more.
    await this.#run(TIMEOUT + MARGIN + 1_000);
    await this.#checkRows();
    this.trace.check();
  }

  async #recover(): Promise<void> {
    for (const place of this.#receivers.keys()) {
      if (this.#receivers[place]?.isClosing === true) this.crash(place);
      await this.restart(place);
    }
    await settle();
  }

  /** Runs with an application and a disk that answer soon. */
  async #run(milliseconds: number, until: () => boolean = () => false): Promise<void> {
    const end = this.time.elapsed + milliseconds;
    while (this.time.elapsed < end && !until()) {
      await settle();
      this.trace.check();
      await this.#writeAll();
      const request = this.#requests.find(({ uti }) => !this.#hangs(uti));
      if (request !== undefined) {
        this.#end(request, "ok");
        await settle();
        continue;
      }
      if (this.#writes.length > 0) continue;
      const next = Math.min(end, Math.max(this.time.elapsed, this.time.next()));
      this.time.elapsed = next;
      this.time.fire();
      await settle();
    }
    this.trace.check();
  }

  #hangs(uti: string): boolean {
    return this.#setup.hanging.some((index) => paymentAt(index % PAYMENTS).uti === uti);
  }

  /** What waits, and what hangs, holds up nothing else for longer than this. */
  async #arriveInTime(): Promise<void> {
    const began = this.time.elapsed;
    const waiting = async (): Promise<string[]> => {
      const keys = this.#receivers.flatMap((one) => (one.setup.isQueued ? one.keys() : []));
      const rows = await this.#all("SELECT event, key FROM deliveries WHERE due IS NOT NULL");
      return rows
        .filter(({ key }) => keys.includes(String(key)))
        .map(({ event }) => this.#paymentOf(String(event))?.payment.uti ?? String(event))
        .filter((uti) => !this.#hangs(uti));
    };
    while ((await waiting()).length > 0) {
      if (this.time.elapsed - began > BOUND) {
        this.trace.broken(`after ${BOUND} ms, these have not arrived: ${(await waiting()).join()}`);
        this.trace.check();
      }
      await this.#run(100);
    }
  }

  /** What waits to be written is written, and what follows from it. */
  async #writeAll(): Promise<void> {
    await settle();
    while (this.#writes.length > 0) {
      await this.write(0);
      await settle();
    }
  }

  /** The rows, and what is counted of them, against what the world has seen. */
  async #checkRows(): Promise<void> {
    // An end that is written between two readings would make them differ.
    await this.#writeAll();
    const rows = await this.#all(
      "SELECT id, uti, events.key AS key, state, due, attempts, planned FROM events LEFT JOIN deliveries ON event = id",
    );
    const ids = new Set(rows.map(({ id }) => String(id)));
    const queued = new Set(this.#receivers.flatMap((one) => (one.setup.isQueued ? one.keys() : [])));
    for (const { payment, events, pruned, isAcknowledged } of this.payments) {
      const isThere = [...events].some((event) => ids.has(event) || pruned.has(event));
      if (isAcknowledged && !isThere) this.trace.broken(`${payment.uti} was acknowledged, and is not stored`);
    }
    const states = rows.map((row) => ({
      id: String(row["id"]),
      uti: String(row["uti"]),
      key: String(row["key"]),
      state: String(row["state"]),
      isDue: row["due"] !== null,
    }));
    for (const { id, uti, key, state, isDue } of states) {
      const known = this.#known(uti);
      if (known.accepted.length === 0 && state === "delivered")
        this.trace.broken(`${id} is marked as delivered, and no application has accepted it`);
      if (known.skipped.has(id) !== (state === "skipped"))
        this.trace.broken(
          `${id} is ${state}, and an operator ${state === "skipped" ? "has not" : "has"} skipped it`,
        );
      if (state === "null") this.trace.broken(`${id} is not to be forwarded`);
      const isWaiting = state === "pending" || state === "trying";
      if (isWaiting !== isDue) this.trace.broken(`${id} is ${state}, and ${isDue ? "" : "not "}due`);
      if (isWaiting && queued.has(key) && !this.#hangs(uti))
        this.trace.broken(`${id} still waits (${state})`);
      if (state === "failed" && queued.has(key) && !this.#hangs(uti))
        this.trace.broken(`${id} failed, although it was retried`);
    }
    await this.#checkCounters();
  }

  async #checkCounters(): Promise<void> {
    const count = async (where: string): Promise<number> => {
      const [row] = await this.#all(`SELECT count(*) AS n FROM deliveries WHERE ${where}`);
      return Number(row?.["n"]);
    };
    const [waiting, failed] = [await count("due IS NOT NULL"), await count("state = 'failed'")];
    const backlog = this.#operator.backlog();
    await this.#writeAll();
    const { keys } = await backlog;
    const sum = (of: "events" | "failed"): number => keys.reduce((total, one) => total + one[of], 0);
    if (sum("events") !== waiting || sum("failed") !== failed)
      this.trace.broken(`the backlog is ${sum("events")} and ${sum("failed")}, not ${waiting} and ${failed}`);
    const stats = await this.#operator.stats(new Date(0), new Date(BEGIN + this.time.elapsed));
    const counted = (of: "pending" | "failed" | "skipped" | "delivered"): number =>
      stats.keys.reduce((total, one) => total + one[of].events, 0);
    for (const [state, where] of [
      ["pending", "due IS NOT NULL"],
      ["failed", "state = 'failed'"],
      ["skipped", "state = 'skipped'"],
      ["delivered", "state = 'delivered'"],
    ] as const) {
      const number = await count(where);
      if (counted(state) !== number)
        this.trace.broken(`${counted(state)} are counted as ${state}, of ${number}`);
    }
    const accepted = await this.#all(
      "SELECT uti, count(*) AS n FROM attempts JOIN events ON id = event WHERE status BETWEEN 200 AND 299 GROUP BY uti",
    );
    for (const row of accepted) {
      const [uti, stored] = [String(row["uti"]), Number(row["n"])];
      const made = this.#known(uti).accepted.length;
      if (stored > made)
        this.trace.broken(`${stored} attempts of ${uti} are stored as accepted, and ${made} were`);
    }
  }

  #known(uti: string): Known {
    const known = this.payments.find(({ payment }) => payment.uti === uti);
    if (known === undefined) throw new Error(`no payment has the uti ${uti}`);
    return known;
  }

  #paymentOf(event: string): Known | undefined {
    return this.payments.find(({ events }) => events.has(event));
  }

  async #commit(writes: readonly Write[]): Promise<readonly WriteResult[]> {
    await this.#all("UPDATE world_time SET milliseconds = ?", [BEGIN + this.time.elapsed]);
    const results = await this.#write(writes);
    for (const [at, write] of writes.entries()) {
      const result = results[at];
      if (result?.status === "rejected") this.trace.broken(`the store failed: ${String(result.reason)}`);
      if (result?.status === "fulfilled") this.#learn(write, result.value);
    }
    // Of the whole group: an event that one write skips, the next may delete.
    if (writes.some(({ type }) => type === "prune")) await this.#learnDeleted();
    return results;
  }

  #learn(write: Write, { stored, changed }: Told): void {
    if (write.type === "event" && stored?.repeated === false)
      this.#known((JSON.parse(Buffer.from(write.body).toString()) as { uti: string }).uti).events.add(
        stored.first,
      );
    if (write.type === "end" && write.isAccepted)
      for (const one of this.#paymentOf(write.claim.id)?.accepted ?? []) one.isSettled = true;
    if (write.type === "order")
      for (const id of changed ?? []) {
        const { skipped } = this.#paymentOf(id) ?? {};
        if (write.order === "skip") skipped?.add(id);
        else skipped?.delete(id);
      }
  }

  async #learnDeleted(): Promise<void> {
    const ids = new Set((await this.#all("SELECT id FROM events")).map(({ id }) => String(id)));
    for (const { payment, events, pruned, accepted, skipped } of this.payments)
      for (const id of events) {
        if (ids.has(id) || pruned.has(id)) continue;
        pruned.add(id);
        if (accepted.length === 0 && !skipped.has(id))
          this.trace.broken(`${payment.uti} was deleted, and never arrived`);
      }
  }

  /** The end of an attempt that cannot be written may be made again once its claim has ended. */
  #excuse(write: Write): void {
    if (write.type === "end" && write.isAccepted)
      for (const one of this.#paymentOf(write.claim.id)?.accepted ?? []) one.isExcused = true;
  }
}

/** Milliseconds after which the claim of a direct receiver has ended. */
const CLAIM_OF_DIRECT = TIMEOUT + CLAIM_MARGIN + 1_000;
/** Milliseconds that everything which does not hang may take to arrive, while something does. */
const BOUND = 20_000;

/** A write in a trace: a claim only if it found something. */
function shown(write: Write, result: WriteResult | undefined): string[] {
  if (write.type === "event") return [`the event ${write.id}`];
  if (write.type === "end") return [`the end of ${write.claim.id} (${write.claim.attempt})`];
  if (write.type === "release") return [`the release of ${write.claims.map(({ id }) => id).join()}`];
  if (write.type !== "claim") return [write.type];
  const claimed = result?.status === "fulfilled" ? (result.value.claimed ?? []) : [];
  return claimed.map(({ id, attempt }) => `a claim of ${String(id)} (${Number(attempt)})`);
}
