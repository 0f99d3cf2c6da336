/** What the world knows of each payment that lists ask for, and what must hold of its links, of its rows in the memory and of what runs say. */
import type { RowOutcome } from "../../../src/bulk/outcome.ts";
import type { Row } from "../../../src/store/sql.ts";
import type { Trace } from "../trace.ts";
import { CHECKED_LISTS } from "./lists.ts";
import type { Link, OddService } from "./odd-service.ts";
import { attemptText, CONCURRENCY, type Run } from "./run.ts";

interface Payment {
  /** How many links more than one may be open: one for each row that `--again all` has sent. */
  more: number;
  /** The same of all links, for any `--again`. */
  moreInAll: number;
}

/** The payments, by what is the same for the service and in a list. */
export class Payments {
  readonly #trace: Trace;
  readonly #service: OddService;
  readonly #payments = new Map<string, Payment>();
  /** The run that has created each link. */
  readonly #created = new Map<string, Run>();
  /** Requests of which nobody can know what became of them. */
  readonly #open: { readonly run: Run; readonly key: string }[] = [];

  /** A row without an order number is known to its own memory alone. */
  readonly #memories: number;

  constructor(trace: Trace, service: OddService, memories: number) {
    this.#memories = memories;
    this.#trace = trace;
    this.#service = service;
  }

  #paymentOf(key: string): Payment {
    const payment = this.#payments.get(key) ?? { more: 0, moreInAll: 0 };
    this.#payments.set(key, payment);
    return payment;
  }

  /** A run is about to send its rows. */
  planned({ list, planned = [], again }: Run): void {
    for (const [at, { isDue, link }] of planned.entries()) {
      if (!isDue || link === undefined || again === undefined) continue;
      const payment = this.#paymentOf(list.keys[at] ?? "");
      payment.moreInAll += 1;
      if (again === "all") payment.more += 1;
    }
  }

  created(id: string, run: Run): void {
    this.#created.set(id, run);
  }

  createdByHand({ key }: Link): void {
    const payment = this.#paymentOf(key);
    payment.moreInAll += 1;
    // Whoever makes a second link himself has asked for it.
    if (this.#service.openLinks(key).length > 1 + payment.more) payment.more += 1;
  }

  /** The answer of the request for this payment does not tell what became of it. */
  isOpen(run: Run, key: string): void {
    this.#open.push({ run, key });
  }

  /** No payment has more links than somebody has asked for, and each link has an attempt that no other run takes for free. */
  checkLinks(memories: readonly (readonly Row[])[]): void {
    const keys = new Set(this.#service.links.map(({ key }) => key));
    for (const key of keys) {
      const links = this.#service.links.filter((link) => link.key === key);
      const open = this.#service.openLinks(key);
      const { more, moreInAll } = this.#paymentOf(key);
      const names = links.map(({ id, status }) => `${id} (${status})`).join();
      const once = key.startsWith("O") ? 1 : this.#memories;
      if (links.length > once + moreInAll) this.#trace.broken(`${key} has the links ${names}`);
      if (open.length > once + more) this.#trace.broken(`${key} can be paid twice: ${names}`);
      const digests = DIGESTS.get(key) ?? new Set();
      for (const [memory, attempts] of memories.entries()) {
        const known = attempts.filter((row) => digests.has(String(row["key"])));
        const own = links.filter(({ id }) => this.#created.get(id)?.memory === memory);
        if (known.length < own.length)
          this.#trace.broken(`${key} has the links ${names}, and ${known.length} attempts in the memory`);
      }
    }
  }

  /** A run leaves no more rows in flight than it sends at the same time. */
  checkClaims(run: Run, attempts: readonly Row[]): void {
    const own = attempts.filter((row) => row["state"] === "claimed" && run.claimed.has(textOfRow(row)));
    if (own.length > CONCURRENCY) this.#trace.broken(`${run.name} has ${own.length} rows in flight`);
  }

  /** What a run says that has ended: nothing is left out, and nothing else is in the memory. */
  checkEnd(run: Run, attempts: readonly Row[]): void {
    const { name, list, planned = [], end } = run;
    if (end === undefined) return;
    for (const [at, { isDue, claim }] of planned.entries()) {
      const key = list.keys[at] ?? "";
      const outcome = end.outcomes.get(at);
      const own = this.#service.links.filter(
        (link) => link.key === key && this.#created.get(link.id) === run,
      );
      const says = `${name} says that ${key} is ${outcome?.status ?? "not sent"}`;
      if (isDue && outcome === undefined && end.reason === undefined)
        this.#trace.broken(`${name} says nothing of ${key}`);
      if (own.length > 1)
        this.#trace.broken(`${name} has created ${own.map(({ id }) => id).join()} for ${key}`);
      if (own.length > 0 && !isSaid(outcome, own[0]?.id))
        this.#trace.broken(`${says}, and has created ${own[0]?.id}`);
      if (outcome?.status === "created" && !this.#service.links.some(({ id }) => id === outcome.id))
        this.#trace.broken(`${says}: ${outcome.id}, which is not there`);
      if (outcome?.status === "unknown" && outcome.isEarlier !== true && !this.#isOpenOf(run, key))
        this.#trace.broken(`${says}, although every answer was clear`);
      // What the service told of an earlier run is in the memory after the next one.
      if (claim === undefined || outcome?.status !== "created" || outcome.isEarlier === true) continue;
      if (!end.isDurable) continue;
      const stored = attempts.find(
        (row) => String(row["key"]) === list.rows.at(at)?.identity?.key && row["id"] === outcome.id,
      );
      if (stored?.["state"] !== "created")
        this.#trace.broken(`${says}: ${outcome.id}, and the memory does not have it`);
    }
  }

  #isOpenOf(run: Run, key: string): boolean {
    return this.#open.some((one) => one.run === run && one.key === key);
  }
}

const isSaid = (outcome: RowOutcome | undefined, id: string | undefined): boolean =>
  outcome?.status === "unknown" || (outcome?.status === "created" && outcome.id === id);

const textOfRow = (row: Row): string =>
  attemptText({
    key: String(row["key"]),
    occurrence: Number(row["occurrence"]),
    attempt: Number(row["attempt"]),
  });

/** The keys in the memory of each payment. */
const DIGESTS = new Map<string, Set<string>>();
for (const { rows, keys } of CHECKED_LISTS)
  for (const [at, key] of keys.entries()) {
    const digest = rows.at(at)?.identity?.key;
    if (digest !== undefined) DIGESTS.set(key, new Set([...(DIGESTS.get(key) ?? []), digest]));
  }
