/** One `listen` of a simulated world: the real receiver, forwarder, keyring and store, over a network, a disk and a clock that are not. */
import type { Handler, Serve } from "../../src/http/exchange.ts";
import type { HttpReply, HttpRequest } from "../../src/http/message.ts";
import type { Deliver } from "../../src/receiver/attempt.ts";
import { createDirectForwarder } from "../../src/receiver/direct.ts";
import { createEventIds } from "../../src/events/event-id.ts";
import type { Forwarder } from "../../src/receiver/forwarder.ts";
import { createQueueForwarder } from "../../src/receiver/queue.ts";
import { startReceiver } from "../../src/receiver/receiver.ts";
import { type Keyring, openKeyring } from "../../src/receiver/keyring.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { createEventStore, type EventStore } from "../../src/store/event-store.ts";
import type { Account } from "./service.ts";
import type { World } from "./world.ts";

export interface ReceiverSetup {
  readonly isQueued: boolean;
  readonly account: Account;
}

/** Milliseconds that an attempt may take. */
export const TIMEOUT = 3_000;
/** Milliseconds that the claim of the queue lasts longer. */
export const MARGIN = 2_000;
const DELAYS = [1_000, 4_000];
const CONCURRENCY = 2;

const APP = new URL("http://app.test/webhooks");
const DECLINED = new URL("http://app.test/declined");

export class Receiver {
  readonly setup: ReceiverSetup;
  readonly name: string;
  /** False once it has crashed or ended. */
  isAlive = true;
  isClosing = false;
  /** Milliseconds by which its clock is ahead. */
  skew: number;
  readonly #world: World;
  readonly store: EventStore;
  #keyring: Keyring | undefined;
  #forwarder: Forwarder | undefined;
  #handle: Handler | undefined;
  #open = new Set<Promise<unknown>>();

  constructor(world: World, name: string, setup: ReceiverSetup, skew: number) {
    this.#world = world;
    this.name = name;
    this.setup = setup;
    this.skew = skew;
    this.store = createEventStore(world.disk.databaseOf(this), name);
  }

  /** The thumbprints of the keys that it has, or had. */
  keys(): readonly string[] {
    return this.#keyring?.read() ?? [];
  }

  async start(): Promise<void> {
    const world = this.#world;
    const now = (): Date => new Date(world.now().getTime() + this.skew);
    const { account, isQueued } = this.setup;
    const keyring = await openKeyring(["service.jwk"], {
      readFile: async () => Buffer.from(world.keyOf(account).text),
      send: () => Promise.reject(new Error("keys are in files")),
      place: "--key",
      effect: "receive",
      now,
      warn: () => undefined,
    });
    this.#keyring = keyring;
    const deliver: Deliver = (request, { timeout }) => world.application.deliver(this, request, timeout);
    const parts = {
      log: this.store,
      deliver,
      now,
      timers: world.time.timersOf(() => this.isAlive),
      headers: [],
      insecure: false,
      timeout: TIMEOUT,
      keys: keyring.read,
      routes: [
        { outcome: "DECLINED" as const, url: DECLINED },
        { outcome: undefined, url: APP },
      ],
      observe: () => undefined,
      warn: () => undefined,
    };
    this.#forwarder = isQueued
      ? createQueueForwarder({
          ...parts,
          queue: this.store,
          delays: DELAYS,
          concurrency: CONCURRENCY,
          margin: MARGIN,
        })
      : createDirectForwarder(parts);
    const serve: Serve = async (handle) => {
      this.#handle = handle;
      return {
        url: "http://receiver.test/",
        port: 80,
        hosts: ["receiver.test"],
        connections: async () => 0,
        renewTls: () => undefined,
        close: async () => void (await Promise.allSettled(this.#open)),
      };
    };
    await startReceiver({
      serve,
      host: "receiver.test",
      port: 80,
      maxBody: 1_000_000,
      publicAddress: () => undefined,
      paths: ["/"],
      policy: DEFAULT_POLICY,
      strict: false,
      terminals: [],
      unverified: false,
      keys: keyring.keys,
      renewKeys: keyring.renew,
      runKeys: keyring.read,
      log: this.store,
      forwarder: this.#forwarder,
      now,
      newId: createEventIds({ now, newId: () => world.newNumber() }),
      observe: () => undefined,
      faulted: (error) => world.trace.broken(`receiver ${this.name} failed: ${String(error)}`),
    });
    this.#forwarder.start();
  }

  /** Whether it takes webhooks. */
  isOpen(): boolean {
    return this.isAlive && !this.isClosing && this.#handle !== undefined;
  }

  /** Resolves with its answer; never, if it crashes before. */
  receive(request: HttpRequest): Promise<HttpReply> {
    const handle = this.#handle;
    if (handle === undefined) return Promise.reject(new Error("it is not open"));
    const answer = handle(request);
    this.#open.add(answer);
    void answer.finally(() => this.#open.delete(answer));
    return answer;
  }

  /** Ends as `listen` does: requests, then attempts, then what is being written. */
  async close(): Promise<void> {
    this.isClosing = true;
    await Promise.allSettled(this.#open);
    await this.#forwarder?.close();
    await this.store.close();
    this.isAlive = false;
  }
}
