/** A simulated world: receivers, their services, one store and one application, and everything that can go wrong between them. */
import { Application, type Answer } from "./application.ts";
import { Disk, type WriteEnd } from "./disk.ts";
import { type KnownPayment, KnownPayments } from "./known.ts";
import { Operator } from "./operator.ts";
import { Receiver, type ReceiverSetup } from "./receiver.ts";
import { type Account, paymentAt, PAYMENTS, SERVICE_KEYS, type ServiceKey, webhookOf } from "./service.ts";
import { Trace } from "./trace.ts";
import { BEGIN, settle, VirtualTime } from "./virtual-time.ts";

export interface WorldSetup {
  readonly receivers: readonly ReceiverSetup[];
  /** Payments whose webhooks the application never answers. */
  readonly hanging: readonly number[];
}

export class World {
  readonly time = new VirtualTime();
  readonly trace = new Trace(this.time);
  readonly payments = new KnownPayments(this.trace);
  readonly application: Application;
  readonly disk: Disk;
  readonly operator: Operator;
  readonly #setup: WorldSetup;
  #receivers: Receiver[] = [];
  #ownKey: ServiceKey = SERVICE_KEYS.first;
  #numbers = 0;

  constructor(setup: WorldSetup) {
    const { time, trace, payments } = this;
    this.#setup = setup;
    this.application = new Application({ time, trace, payments });
    this.disk = new Disk({ time, trace, payments, crash: (receiver) => this.#crash(receiver) });
    this.operator = new Operator({ database: this.disk.databaseOf(undefined), time, trace, payments });
  }

  async start(): Promise<void> {
    for (const setup of this.#setup.receivers) await this.#add(setup, 0);
    await settle();
  }

  close(): void {
    for (const receiver of this.#receivers) receiver.isAlive = false;
    this.disk.close();
  }

  // What is true of it at this moment.

  now(): Date {
    return new Date(BEGIN + this.time.elapsed);
  }

  /** The key that the service of an account signs with. */
  keyOf(account: Account): ServiceKey {
    return account === "own" ? this.#ownKey : SERVICE_KEYS.other;
  }

  /** Eight hexadecimal digits, never the same twice. */
  newNumber(): string {
    return (Math.imul(++this.#numbers, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
  }

  /** Whether the application never answers it. */
  readonly hangs = (uti: string): boolean =>
    this.#setup.hanging.some((index) => paymentAt(index % PAYMENTS).uti === uti);

  /** The keys whose events a queue forwards. */
  queuedKeys(): readonly string[] {
    return this.#receivers.flatMap((one) => (one.setup.isQueued ? one.keys() : []));
  }

  /** Where a receiver of an account is; negative without one. */
  placeOf(account: Account): number {
    return this.#receivers.findIndex(({ setup }) => setup.account === account);
  }

  /** The receiver at a place, of which the numbers of the steps choose one. */
  receiverAt(place: number): Receiver | undefined {
    return this.#receivers[place % this.#receivers.length];
  }

  // What can happen, in any order.

  /** A service delivers a webhook to one of the receivers. */
  send(index: number, place: number): void {
    const known = this.payments.at(index);
    const receiver = this.receiverAt(place);
    if (receiver === undefined || !receiver.isOpen()) return;
    const { payment } = known;
    this.trace.say(`the service sends ${payment.uti} to ${receiver.name}`);
    known.isSent = true;
    receiver.receive(webhookOf(payment, this.keyOf(payment.account))).then(
      ({ status }) => this.#answered(known, receiver, status),
      (error: unknown) => this.trace.broken(String(error)),
    );
  }

  #answered(known: KnownPayment, receiver: Receiver, status: number): void {
    const { uti } = known.payment;
    if (!receiver.isAlive) return;
    this.trace.say(`${receiver.name} answers ${uti} with ${status}`);
    if (status !== 200) return;
    known.isAcknowledged = true;
    if (known.events.size === 0)
      this.trace.broken(`${receiver.name} acknowledged ${uti}, which is not stored`);
    if (!receiver.setup.isQueued && !known.isEnded())
      this.trace.broken(`${receiver.name} acknowledged ${uti}, which no application has accepted`);
  }

  /** The disk does one of the writes that wait. */
  write(index: number, end?: WriteEnd): Promise<void> {
    return this.disk.write(index, end);
  }

  /** The application answers one of the requests that it has. */
  answer(index: number, answer: Answer): void {
    this.application.answer(index, answer);
  }

  /** Time passes, with all that is due meanwhile. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.time.elapsed + milliseconds;
    for (;;) {
      const disk = this.disk.next();
      const next = Math.min(this.time.next(), disk);
      if (next > end || this.trace.isBroken()) break;
      this.time.elapsed = Math.max(this.time.elapsed, next);
      if (disk <= this.time.elapsed) await this.disk.write(0);
      else this.time.fire();
      await settle();
    }
    this.time.elapsed = Math.max(this.time.elapsed, end);
  }

  crash(place: number): void {
    const receiver = this.receiverAt(place);
    if (receiver?.isAlive === true) this.#crash(receiver);
  }

  #crash(receiver: Receiver): void {
    this.trace.say(`${receiver.name} crashes`);
    receiver.isAlive = false;
    this.disk.drop(receiver);
    this.application.drop(receiver);
    this.payments.crashed(receiver);
  }

  /** A receiver that has crashed or ended starts again. */
  async restart(place: number): Promise<void> {
    const before = this.receiverAt(place);
    if (before === undefined || before.isAlive) return;
    await this.#add(before.setup, before.skew, place % this.#receivers.length);
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
    const receiver = this.receiverAt(place);
    if (receiver === undefined || !receiver.isOpen()) return;
    this.trace.say(`${receiver.name} is told to end`);
    void receiver.close().then(() => {
      this.trace.say(`${receiver.name} ends`);
      for (const known of this.payments.all)
        if (known.unsettled(receiver).length > 0)
          this.trace.broken(`${receiver.name} ended without storing that ${known.payment.uti} was accepted`);
    });
  }

  setClock(place: number, skew: number): void {
    const receiver = this.receiverAt(place);
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

  /** Every receiver listens again: what is ending is killed, and what has ended starts. */
  async recover(): Promise<void> {
    for (const [place, { isClosing }] of [...this.#receivers].entries()) {
      if (isClosing) this.crash(place);
      await this.restart(place);
    }
    await settle();
  }
}
