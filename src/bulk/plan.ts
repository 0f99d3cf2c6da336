/** What a run does with each row of a list, as a pure function of the rows, of what was sent before, and of the flags. */
import type { LinkStatus } from "../domain/payment-link-reply.ts";
import type { SentAttempt, SentKey } from "../store/sent-rows.ts";
import { isSamePayment, type RowIdentity } from "./row.ts";

/** Which rows are sent once more. */
export const AGAIN = ["unknown", "ended", "changed", "all"] as const;
export type Again = (typeof AGAIN)[number];

/** An attempt to create the link of a row, of this memory or of a results file, which does not have all of it. */
export interface Known extends Pick<SentAttempt, "state" | "isInFlight" | "id" | "url" | "error"> {
  /** 0 where only a results file has the link. */
  readonly attempt: number;
  /** What the link was created for; undefined where that is not known, so that the row cannot be compared with it. */
  readonly payment: string | undefined;
  /** A digest of all that was asked for, where the memory has it. */
  readonly content: string | undefined;
  /** As the service has it now; undefined where that is not known. */
  readonly status: LinkStatus | undefined;
  /** The order number that the service has for a link of a results file; empty where that is not known. */
  readonly orderNumber: string;
}

/** A link that a results file has. */
export interface ResultLink extends Pick<SentAttempt, "id" | "url" | "error"> {
  readonly state: "created" | "unknown";
  /** What its row asked for; undefined in the list itself, whose rows may have been edited since. */
  readonly payment: string | undefined;
}

/** A link as the service has it. */
export interface KnownLink {
  readonly status: LinkStatus | undefined;
  /** What it was created for, in the form of a row's `payment`; undefined if the service does not say it. */
  readonly payment: string | undefined;
  /** As it is compared; empty if the link has no order number. */
  readonly orderNumber: string;
}

/** A row as it is planned. */
export interface RowToPlan {
  /** That of its identity; undefined for a row that cannot be sent. */
  readonly key: string | undefined;
  /** Read again when needed, which is slow: a row that was never sent does not need it. */
  readonly identity: RowIdentity | undefined;
  /** The link that the row itself has, if the list is a results file. */
  readonly own: ResultLink | undefined;
  /** False for a row whose date of expiry has passed: it can only have been sent before. */
  readonly isValid: boolean;
}

/**
 * `new`: never sent. `sent`: its link can still be paid, as far as is known. `changed`: sent with another amount, currency, kind
 * or type. `misplaced`: the results name a link for it that is another row's. `ended`: the link was cancelled, or has expired
 * unpaid. `respelled`: its order number was sent in another spelling. `unknown`: the link may exist. `in_flight`: another run is sending it. `twice`: the list repeats the row, or its order
 * number.
 */
export type RowState =
  | "new"
  | "sent"
  | "paid"
  | "ended"
  | "changed"
  | "misplaced"
  | "respelled"
  | "unknown"
  | "in_flight"
  | "twice"
  | "invalid";

export interface PlannedRow {
  readonly state: RowState;
  /** Whether this run sends it. */
  readonly isDue: boolean;
  /** What is to be claimed, with its key, before it is sent; undefined for a row that cannot be sent. */
  readonly claim: Omit<SentKey, "key"> | undefined;
  /** What was sent before for the row. The last is what counts: the newest, or the link that its customer pays, or has paid. */
  readonly known: readonly Known[];
  /** It was sent with other values that do not change what is paid. */
  readonly differs: boolean;
  /** It has a link, and nobody knows what that was created for. */
  readonly isUncompared: boolean;
}

export interface PlanInput {
  /** In the order of the attempts. */
  readonly attempts: readonly SentAttempt[];
  /** The links of results files, by the key of their rows. */
  readonly results: ReadonlyMap<string, readonly ResultLink[]>;
  /** Those of the service, by their ids. */
  readonly links: ReadonlyMap<string, KnownLink>;
  /** As `occurrenceText`: the rows of unknown outcome for which the service has no link, as it says itself. */
  readonly without: ReadonlySet<string>;
}

export interface PlanOptions {
  readonly again: Again | undefined;
  readonly allowDuplicates: boolean;
}

/** In the order of the rows. */
export function plan(rows: readonly RowToPlan[], input: PlanInput, options: PlanOptions): PlannedRow[] {
  const planned: PlannedRow[] = [];
  const others: { readonly key: string; readonly at: number }[] = [];
  const attempts = grouped(input.attempts, ({ key }) => key);
  const repeated = repeatedKeys(rows);
  for (const { key, own, isValid } of rows) {
    const at = planned.length;
    const isKnown = key !== undefined && (attempts.has(key) || input.results.has(key));
    const isNew = isValid && own === undefined && !isKnown;
    if (key === undefined) planned.push(INVALID);
    // Most rows: a group of each would take 200 MB for a million of them (`npm run bench -- bulk memory`).
    else if (isNew && !repeated.has(key)) planned.push(NEW);
    else {
      planned.push(INVALID);
      others.push({ key, at });
    }
  }
  const shared = sharedIds(rows);
  for (const [key, places] of grouped(others, (row) => row.key)) {
    const members = places.map(({ at }) => groupMember(rows, at, key));
    for (const [at, row] of planGroup(members, attempts.get(key) ?? [], { ...input, shared }, options))
      planned[at] = row;
  }
  return planned;
}

/** The keys that more than one row has. */
function repeatedKeys(rows: readonly RowToPlan[]): ReadonlySet<string> {
  const [seen, repeated] = [new Set<string>(), new Set<string>()];
  for (const { key } of rows) {
    if (key === undefined) continue;
    if (seen.has(key)) repeated.add(key);
    seen.add(key);
  }
  return repeated;
}

export function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) addTo(groups, keyOf(item), item);
  return groups;
}

export function addTo<T>(groups: Map<string, T[]>, key: string, item: T): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [item]);
  else group.push(item);
}

/** The links that more than one row of a results file has: a row was copied, to make another of it. */
function sharedIds(rows: readonly RowToPlan[]): ReadonlySet<string> {
  const [seen, shared] = [new Set<string>(), new Set<string>()];
  for (const { own } of rows) {
    const id = own?.id;
    if (typeof id !== "string") continue;
    if (seen.has(id)) shared.add(id);
    seen.add(id);
  }
  return shared;
}

const INVALID: PlannedRow = {
  state: "invalid",
  isDue: false,
  claim: undefined,
  known: [],
  differs: false,
  isUncompared: false,
};

const NONE_KNOWN: readonly Known[] = [];

/** One object for all rows that were never sent. */
const NEW: PlannedRow = {
  ...INVALID,
  state: "new",
  isDue: true,
  claim: { occurrence: 1, attempt: 1 },
};

interface Member extends Pick<RowToPlan, "own" | "isValid"> {
  /** Its place in the list. */
  readonly at: number;
  readonly key: string;
  readonly identity: () => RowIdentity;
}

function groupMember(rows: readonly RowToPlan[], at: number, key: string): Member {
  const row = rows.at(at);
  const identity = (): RowIdentity => {
    if (row?.identity === undefined) throw new TypeError("A row with a key has an identity.");
    return row.identity;
  };
  return { at, key, own: row?.own, isValid: row?.isValid === true, identity };
}

/** The rows with one order number, or of one content, and every attempt for them. */
function planGroup(
  members: readonly Member[],
  attempts: readonly SentAttempt[],
  { results, links: service, without, shared }: PlanInput & { readonly shared: ReadonlySet<string> },
  { again, allowDuplicates }: PlanOptions,
): (readonly [at: number, row: PlannedRow])[] {
  const isTwice = members.length > 1 && !allowDuplicates;
  const sent = new Map<number, Known[]>();
  for (const attempt of attempts) {
    const known = { ...attempt, status: linkOf(attempt, service)?.status, orderNumber: "" };
    sent.set(attempt.occurrence, [...(sent.get(attempt.occurrence) ?? []), known]);
  }
  const free = new Map(sent);
  const ids = new Set(attempts.flatMap(({ id }) => id ?? []));
  const links = [...(results.get(members[0]?.key ?? "") ?? [])].filter(
    ({ id }) => id === null || !ids.has(id),
  );
  // By content, so that the order of the list decides nothing.
  const left = members.toSorted((one, other) =>
    compareTexts(one.identity().content, other.identity().content),
  );
  const found = new Map<Member, readonly [occurrence: number, known: readonly Known[]]>();
  /** Gives each row that is left what was sent with the same mark, the first first. */
  const take = (
    marksOf: (known: readonly Known[]) => readonly string[],
    markOf: (member: Member) => string,
  ): void => {
    const marked = new Map<string, number[]>();
    for (const [occurrence, known] of [...free].toReversed())
      for (const mark of marksOf(known)) addTo(marked, mark, occurrence);
    for (const member of left) {
      if (found.has(member)) continue;
      const occurrences = marked.get(markOf(member)) ?? [];
      let occurrence = occurrences.pop();
      while (occurrence !== undefined && !free.has(occurrence)) occurrence = occurrences.pop();
      const known = occurrence === undefined ? undefined : free.get(occurrence);
      if (occurrence === undefined || known === undefined) continue;
      free.delete(occurrence);
      found.set(member, [occurrence, known]);
    }
  };
  take(
    (known) => known.flatMap(({ id }) => id ?? []),
    ({ own }) => own?.id ?? "",
  );
  take(
    (known) => [known.at(-1)?.content ?? ""],
    ({ identity }) => identity().content,
  );
  take(
    (known) => [known.at(-1)?.payment ?? ""],
    ({ identity }) => identity().payment,
  );
  take(
    () => [""],
    () => "",
  );
  // A run that could no longer write to its memory has written its results.
  for (const [member, [occurrence, known]] of found) {
    const newest = known.at(-1);
    if (newest === undefined || newest.state === "created") continue;
    const link = [member.own, ...links].find((one) => one?.state === "created");
    if (link === undefined) continue;
    if (links.includes(link)) links.splice(links.indexOf(link), 1);
    const payment = linkOf(link, service)?.payment ?? newest.payment;
    const result = { ...knownResult(link, service), payment };
    // It may have ended just now: what it had in flight looks as if it still were.
    const all = newest.isInFlight ? [...known.slice(0, -1), result, newest] : [...known, result];
    found.set(member, [occurrence, all]);
  }
  let next = 1;
  const inResults = links.values();
  for (const member of left) {
    if (found.has(member)) continue;
    while (sent.has(next)) next++;
    const link = member.own ?? inResults.next().value;
    found.set(member, [next++, link === undefined ? NONE_KNOWN : [knownResult(link, service)]]);
  }
  return members.map((member) => {
    const { at, key, isValid } = member;
    const [occurrence, sentBefore] = found.get(member) ?? [1, NONE_KNOWN];
    const before = decisiveLast(sentBefore);
    const attempt = Math.max(0, ...before.map((one) => one.attempt)) + 1;
    const newest = before.at(-1);
    const known = isTwice ? "twice" : rowState(member, newest, shared);
    if (known === "new" && isValid && occurrence === 1) return [at, NEW];
    const isMeant =
      isDue(known, newest, again) &&
      (again !== "unknown" || known === "new" || without.has(occurrenceText({ key, occurrence })));
    const row = {
      state: isValid || !isMeant ? known : ("invalid" as const),
      isDue: isMeant && isValid,
      claim: { occurrence, attempt },
      known: before,
      differs: newest?.content !== undefined && newest.content !== member.identity().content,
      isUncompared: newest?.state === "created" && newest.payment === undefined,
    };
    return [at, row];
  });
}

/** The same for the same row. */
export const occurrenceText = ({ key, occurrence }: Pick<SentKey, "key" | "occurrence">): string =>
  `${key} ${occurrence}`;

/**
 * After `--again all` a row has several links. The newest counts, unless an earlier one was paid, or can still be paid when the
 * newest cannot: otherwise a third link would be made beside it.
 */
function decisiveLast(known: readonly Known[]): readonly Known[] {
  const newest = known.at(-1);
  if (known.length < 2 || newest?.state !== "created") return known;
  const isOpen = (one: Known): boolean => one.status !== undefined && !isEnded(one);
  const decisive =
    known.findLast(({ status }) => status === "paid") ?? (isEnded(newest) ? known.findLast(isOpen) : newest);
  return decisive === undefined ? known : [...known.filter((one) => one !== decisive), decisive];
}

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const linkOf = (
  { id }: Pick<SentAttempt, "id">,
  links: ReadonlyMap<string, KnownLink>,
): KnownLink | undefined => (id === null ? undefined : links.get(id));

/** The service knows best what a link was created for. */
function knownResult(result: ResultLink, links: ReadonlyMap<string, KnownLink>): Known {
  const link = linkOf(result, links);
  return {
    ...result,
    attempt: 0,
    isInFlight: false,
    payment: link?.payment ?? result.payment,
    content: undefined,
    status: link?.status,
    orderNumber: link?.orderNumber ?? "",
  };
}

function rowState({ identity }: Member, newest: Known | undefined, shared: ReadonlySet<string>): RowState {
  if (newest === undefined) return "new";
  if (newest.state !== "created") return newest.isInFlight ? "in_flight" : "unknown";
  const { payment, orderNumber = "" } = identity();
  const isOwnOrder = newest.orderNumber !== "" && newest.orderNumber === orderNumber;
  const isShared = newest.attempt === 0 && newest.id !== null && shared.has(newest.id);
  if (!isOwnOrder && (newest.orderNumber !== "" || isShared)) return "misplaced";
  if (newest.payment !== undefined && !isSamePayment(payment, newest.payment)) return "changed";
  if (newest.status === "paid") return "paid";
  return isEnded(newest) ? "ended" : "sent";
}

/** The link of a row that only a results file has. */
export const linkInResults = (known: readonly Known[]): Known | undefined =>
  known.findLast(({ attempt, state }) => attempt === 0 && state === "created");

/** Whether a link can no longer be paid, and was not. */
export const isEnded = ({ status }: Pick<Known, "status">): boolean =>
  status === "cancelled" || status === "expired";

const NEVER: ReadonlySet<RowState> = new Set(["twice", "in_flight", "misplaced", "invalid"]);

function isDue(state: RowState, newest: Known | undefined, again: Again | undefined): boolean {
  if (state === "new") return true;
  if (NEVER.has(state) || newest === undefined) return false;
  if (again === "all") return true;
  if (again === "unknown") return state === "unknown";
  if (again === "ended") return newest.state === "created" && isEnded(newest);
  // A paid one is left: its customer would pay twice.
  return again === "changed" && state === "changed" && newest.status !== "paid";
}

/** Whether the row keeps the list from being sent. */
export const isHeldUp = ({ state, isDue: due }: PlannedRow, again: Again | undefined): boolean =>
  state === "changed" && !due && again !== "changed";

/** Whether `--again` was meant for the row, and it is not sent. */
export const isLeft = ({ state, isDue: due }: PlannedRow, again: Again | undefined): boolean =>
  state === again && !due;
