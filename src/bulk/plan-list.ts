/** Brings together what is known of the rows of a list, from the memory, from results files and from the service, and plans the run. */
import type { Api } from "../service/client.ts";
import type { SentAttempt, Memory, SentKey, Settled } from "../store/sent-rows.ts";
import type { PaylinkError } from "../domain/errors.ts";
import type { Checked, CheckedRow } from "./check-rows.ts";
import { askService, type ServiceLinks, type Wanted } from "./link-states.ts";
import { otherSpellings } from "../lists/order-numbers.ts";
import {
  grouped,
  isEnded,
  occurrenceText,
  plan,
  type PlannedRow,
  type PlanOptions,
  type ResultLink,
} from "./plan.ts";
import { isSamePayment, orderKey } from "./row.ts";

export interface PlanParts extends Pick<Checked, "rows" | "respellable"> {
  readonly memory: Pick<Memory, "find">;
  /** Its address in the canonical spelling. */
  readonly service: string;
  /** The links of results files, by the key of their rows. */
  readonly results: ReadonlyMap<string, readonly ResultLink[]>;
  /** Opens the client that reads the links. */
  readonly api: () => Promise<Pick<Api, "listLinks">>;
  readonly now: Date;
  readonly options: PlanOptions;
}

export interface PlannedList {
  readonly planned: readonly PlannedRow[];
  /** Why the service could not be asked for the links that were sent before. */
  readonly unasked: PaylinkError | undefined;
  /** What became of attempts of unknown outcome, as far as the service knows. */
  readonly found: readonly FoundOutcome[];
  /** By the place of a row: the spelling in which its order number was sent before. */
  readonly respelled: ReadonlyMap<number, string>;
}

export interface FoundOutcome {
  readonly key: SentKey;
  readonly settled: Settled;
}

export async function planList({
  rows,
  respellable,
  memory,
  service: address,
  results,
  api,
  now,
  options,
}: PlanParts): Promise<PlannedList> {
  const terminals = new Set<string>();
  const links = [...results.values()].flat();
  for (const { terminal, own } of rows) {
    if (terminal !== undefined) terminals.add(terminal);
    if (own !== undefined) links.push(own);
  }
  const attempts = await attemptsOf(rows, memory);
  const ids = new Set([...attempts, ...links].flatMap(({ id }) => id ?? []));
  const unknown =
    options.again === "unknown" ? newestUnknown(attempts) : new Map<string, readonly SentAttempt[]>();
  const asked = rowsWith(unknown, rows);
  const wanted: Wanted = {
    ids,
    orderNumbers: new Set(asked.flatMap(({ identity }) => identity?.orderNumber ?? [])),
    terminals,
    since: links.length > 0 ? 0 : firstOf(attempts),
    until: attempts.reduce((last, { sentAt }) => Math.max(last, sentAt), 0),
  };
  const service = await askService(api, wanted, now);
  const { found: withLink, without } = resolve(asked, unknown, service, ids);
  const found = [...withLink, ...besideOpenLinks(attempts, unknown, without, service)];
  const byAttempt = new Map(found.map((one) => [attemptText(one.key), one.settled]));
  const known = attempts.flatMap((attempt) => {
    const settled = byAttempt.get(attemptText(attempt));
    return settled?.state === "free" ? [] : { ...attempt, ...settled };
  });
  const planned = plan(rows, { attempts: known, results, links: service.links, without }, options);
  const isSent = async (asked: readonly string[]): Promise<ReadonlySet<string>> => {
    const remembered = await memory.find(asked);
    return new Set([...remembered.map(({ key }) => key), ...asked.filter((key) => results.has(key))]);
  };
  const respelled = options.allowDuplicates
    ? NONE_RESPELLED
    : await findRespelled(rows, newAmong(respellable, planned), address, isSent);
  return {
    planned: planned.map((row, at) =>
      respelled.has(at) ? { ...row, state: "respelled", isDue: false } : row,
    ),
    unasked: service.failure,
    found,
    respelled,
  };
}

const NONE_RESPELLED: ReadonlyMap<number, string> = new Map();

/** Rows whose attempts are looked for at the same time. */
const LOOKED_FOR = 10_000;

async function attemptsOf(rows: readonly CheckedRow[], memory: Pick<Memory, "find">): Promise<SentAttempt[]> {
  const found: SentAttempt[] = [];
  const known = new Set<string>();
  let keys = new Set<string>();
  const look = async (): Promise<void> => {
    const attempts = await memory.find([...keys]);
    keys = new Set();
    for (const { key } of attempts) known.add(key);
    found.push(...attempts);
  };
  for (const { key } of rows) {
    if (key !== undefined && !known.has(key)) keys.add(key);
    if (keys.size === LOOKED_FOR) await look();
  }
  await look();
  return found;
}

/** Of a longer list, this many rows are looked at first: a spreadsheet changes all numbers of a column alike. */
const LOOKED_AT_FIRST = 2000;

const newAmong = (places: readonly number[], planned: readonly PlannedRow[]): number[] =>
  places.filter((at) => planned[at]?.state === "new");

/** Of the rows at some places, those whose order number was sent in another spelling. `isSent` says which of some keys were sent. */
async function findRespelled(
  rows: readonly CheckedRow[],
  respellable: readonly number[],
  service: string,
  isSent: (keys: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<ReadonlyMap<number, string>> {
  const step = Math.ceil(respellable.length / LOOKED_AT_FIRST);
  const found = await look(respellable.filter((_, place) => place % step === 0));
  return step <= 1 || found.size === 0 ? found : look(respellable);

  async function look(places: readonly number[]): Promise<Map<number, string>> {
    const other = new Map<number, string>();
    for (let from = 0; from < places.length; from += LOOKED_AT_FIRST) {
      const part = places.slice(from, from + LOOKED_AT_FIRST).flatMap((at) => {
        const { terminal = "", orderNumber = "" } = rows.at(at)?.identity ?? {};
        return otherSpellings(orderNumber).map((number) => ({
          at,
          number,
          key: orderKey(service, terminal, number),
        }));
      });
      const sent = await isSent(part.map(({ key }) => key));
      for (const { at, number, key } of part) if (sent.has(key)) other.set(at, number);
    }
    return other;
  }
}

const rowsWith = (keys: ReadonlyMap<string, unknown>, rows: readonly CheckedRow[]): CheckedRow[] => {
  const found: CheckedRow[] = [];
  for (const row of rows) if (row.key !== undefined && keys.has(row.key)) found.push(row);
  return found;
};

const attemptText = ({ key, occurrence, attempt }: SentKey): string => [key, occurrence, attempt].join(" ");

/** When the first of them was sent. */
const firstOf = (attempts: readonly SentAttempt[]): number =>
  attempts.reduce((first, { sentAt }) => Math.min(first, sentAt), Number.MAX_SAFE_INTEGER);

/** By the key of their rows: the newest attempt of each row, where its outcome is not known. */
function newestUnknown(attempts: readonly SentAttempt[]): Map<string, readonly SentAttempt[]> {
  const newest = new Map<string, SentAttempt>();
  for (const attempt of attempts) newest.set(occurrenceText(attempt), attempt);
  const unknown = [...newest.values()].filter(({ state, isInFlight }) => state !== "created" && !isInFlight);
  return grouped(unknown, ({ key }) => key);
}

/**
 * The attempts without a link of rows with an earlier link that can still be paid, or was paid: a run ended before it cancelled
 * that link. Such a row is again what it was before the attempt: if it were sent, its customer could pay twice.
 */
function besideOpenLinks(
  attempts: readonly SentAttempt[],
  unknown: ReadonlyMap<string, readonly SentAttempt[]>,
  without: ReadonlySet<string>,
  { links }: ServiceLinks,
): FoundOutcome[] {
  const isOpen = ({ id, state }: SentAttempt): boolean =>
    state === "created" && !isEnded({ status: id === null ? undefined : links.get(id)?.status });
  const open = new Set(attempts.filter(isOpen).map(occurrenceText));
  return [...unknown.values()].flat().flatMap((attempt) => {
    const row = occurrenceText(attempt);
    return without.has(row) && open.has(row) ? { key: attempt, settled: { state: "free" as const } } : [];
  });
}

/** Which of the unknown attempts have a link at the service, and which rows have none for certain. */
function resolve(
  rows: readonly CheckedRow[],
  unknown: ReadonlyMap<string, readonly SentAttempt[]>,
  { byOrder, failure }: ServiceLinks,
  ids: ReadonlySet<string>,
): { readonly found: FoundOutcome[]; readonly without: ReadonlySet<string> } {
  const found: FoundOutcome[] = [];
  const without = new Set<string>();
  if (failure !== undefined) return { found, without };
  const orders = new Map(rows.map(({ identity }) => [identity?.key ?? "", identity?.orderNumber]));
  for (const [key, orderNumber] of orders) {
    if (orderNumber === undefined) continue;
    const others = new Set((byOrder.get(orderNumber) ?? []).filter(({ id }) => !ids.has(id)));
    const left = (unknown.get(key) ?? []).filter((attempt) => {
      const link = [...others].find(
        ({ payment }) => payment !== undefined && isSamePayment(attempt.payment, payment),
      );
      if (link === undefined) return true;
      others.delete(link);
      const { id, url } = link;
      found.push({ key: attempt, settled: { state: "created", id, url, error: null } });
      return false;
    });
    // paylink cannot explain a further link of that order.
    if (others.size === 0) for (const attempt of left) without.add(occurrenceText(attempt));
  }
  return { found, without };
}
