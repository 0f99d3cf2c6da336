/** What a run does with each row of a list, as a pure function of the rows, of what was sent before, and of the flags. */
import { numberKey } from "../lists/order-numbers.ts";
import type { Attempt, SentKey } from "../store/sent-rows.ts";
import { addTo, grouped } from "../values/groups.ts";
import { isSamePayment, type RowIdentity } from "./row.ts";

/** Which rows are sent once more. */
export const AGAIN = ["unknown", "ended", "expired", "changed", "all"] as const;
export type Again = (typeof AGAIN)[number];

/** A row as it is planned. */
export interface RowToPlan {
  /** Undefined for a row that cannot be sent. */
  readonly identity: RowIdentity | undefined;
  /** The link that the row itself has, if the list is a results file or a list of links. */
  readonly own: Attempt | undefined;
  /** False for a row whose date of expiry has passed: it can only have been sent before. */
  readonly isValid: boolean;
  /** False for a row that the flags leave out. */
  readonly isChosen: boolean;
}

/**
 * `new`: never sent. `sent`: its link can still be paid, as far as is known. `changed`: no link of its order that can still be paid, or
 * was the last, asks for what it asks for. `misplaced`: the results name a link for it that is another row's. `ended`: its last link was
 * cancelled, or has expired unpaid. `respelled`: its order number was sent in another spelling. `unknown`: the link may exist.
 * `in_flight`: another run is sending it. `twice`: the list repeats the row, or its order number. `skipped`: it was not chosen.
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
  | "skipped"
  | "invalid";

export interface PlannedRow {
  readonly state: RowState;
  /** Whether this run sends it. */
  readonly isDue: boolean;
  /** `--again` was meant for it, and it is not sent. */
  readonly isLeft: boolean;
  /** What is to be claimed, with its key, before it is sent; undefined for a row that cannot be sent. */
  readonly claim: Omit<SentKey, "key"> | undefined;
  /** What counts of all that was sent for it: the link that is paid, or can be, else the newest attempt. */
  readonly link: Attempt | undefined;
  /** Further links of its order that can still be paid, as the service says. */
  readonly others: readonly Attempt[];
  /** The links that are cancelled before it is sent. */
  readonly cancels: readonly string[];
  /** It was sent with other values that do not change what is paid. */
  readonly differs: boolean;
  /** Its link asks for another payment. */
  readonly isForOther: boolean;
  /** The service alone knows an attempt of it. */
  readonly isElsewhere: boolean;
}

export interface PlanOptions {
  readonly again: Again | undefined;
  readonly allowDuplicates: boolean;
  /** The list is one of links that exist: several of one order are attempts of one row. */
  readonly isOfLinks: boolean;
}

/** In the order of the rows. `attempts` are those of each key, the oldest first. */
export function plan(
  rows: readonly RowToPlan[],
  attempts: ReadonlyMap<string, readonly Attempt[]>,
  options: PlanOptions,
): PlannedRow[] {
  const pairs = pairsOf(rows, attempts, options);
  const shared = sharedIds(rows);
  return rows.map((row, at) => planned(row, pairs.get(at) ?? ALONE, shared, options.again));
}

/** What was sent for one row. */
interface Pair {
  readonly isTwice: boolean;
  /** Another row of a list of links has a later link of its order, and stands for all of them. */
  readonly isEarlier: boolean;
  /** Of several rows with its key, from 1. */
  readonly occurrence: number;
  /** The attempts of this row, in their order, and those of its order that no row of the list has. */
  readonly own: readonly Attempt[];
  readonly others: readonly Attempt[];
}

const ALONE: Pair = { isTwice: false, isEarlier: false, occurrence: 1, own: [], others: [] };

// Pairing: which attempts are those of which row.

function pairsOf(
  rows: readonly RowToPlan[],
  attempts: ReadonlyMap<string, readonly Attempt[]>,
  options: PlanOptions,
): ReadonlyMap<number, Pair> {
  const members = rows.flatMap(({ identity, own, isChosen }, at): Member[] =>
    identity === undefined || !isChosen ? [] : [{ at, identity, own }],
  );
  const pairs = new Map<number, Pair>();
  const groups = grouped(members, ({ identity: { key, orderNumber } }) =>
    options.allowDuplicates ? `${key} ${orderNumber}` : key,
  );
  for (const group of groups.values()) {
    const [first] = group;
    const known = first && attempts.get(first.identity.key);
    if (first === undefined || (group.length === 1 && known === undefined)) continue;
    for (const [at, pair] of pairsOfGroup(group, known ?? [], first.identity, options)) pairs.set(at, pair);
  }
  return pairs;
}

/** The rows with one key, and every attempt for them. */
function pairsOfGroup(
  members: readonly Member[],
  attempts: readonly Attempt[],
  identity: RowIdentity,
  { allowDuplicates, isOfLinks }: PlanOptions,
): (readonly [at: number, pair: Pair])[] {
  const known = attempts.filter(
    (attempt) => !allowDuplicates || isSpelled(attempt, identity) || isOfAnotherOrder(attempt, identity),
  );
  const threads = threadsOf(known);
  const found = paired(members, threads);
  const taken = new Set(found.values());
  const free = threads.filter((thread) => !taken.has(thread)).flat();
  const isOfOrder = identity.orderNumber !== "";
  const leading = isOfLinks && isOfOrder ? latest(members, found) : undefined;
  const used = new Set(attempts.map(({ occurrence }) => occurrence));
  let next = 1;
  const unused = (): number => {
    while (used.has(next)) next++;
    return next++;
  };
  return members.map((member) => {
    const own = found.get(member) ?? [];
    const others = leading === undefined ? free : known.filter((attempt) => !own.includes(attempt));
    const pair = {
      isTwice: members.length > 1 && !allowDuplicates && !isOfLinks,
      isEarlier: leading !== undefined && leading !== member,
      occurrence: own.find(({ source }) => source === "memory")?.occurrence ?? unused(),
      own,
      others: isOfOrder ? others : [],
    };
    return [member.at, pair];
  });
}

/** The row with the link that was made last. */
const latest = (
  members: readonly Member[],
  found: ReadonlyMap<Member, readonly Attempt[]>,
): Member | undefined => {
  const madeAt = (member: Member): number => found.get(member)?.at(-1)?.sentAt ?? 0;
  return members.toSorted((one, other) => madeAt(one) - madeAt(other)).at(-1);
};

/** Attempts in the memory for one occurrence belong together; any other is on its own. */
function threadsOf(attempts: readonly Attempt[]): (readonly Attempt[])[] {
  const remembered = attempts.filter(({ source }) => source === "memory");
  const threads = [...grouped(remembered, ({ occurrence }) => String(occurrence)).values()];
  return [
    ...threads
      .map((thread) => thread.toSorted((one, other) => one.attempt - other.attempt))
      .toSorted((one, other) => (one[0]?.occurrence ?? 0) - (other[0]?.occurrence ?? 0)),
    ...attempts.filter(({ source }) => source !== "memory").map((attempt) => [attempt]),
  ];
}

interface Member {
  /** Its place in the list. */
  readonly at: number;
  readonly identity: RowIdentity;
  readonly own: Attempt | undefined;
}

/** By what rows and attempts are paired, the most certain first. */
const MARKS: readonly {
  readonly ofRow: (member: Member) => string;
  readonly ofThread: (thread: readonly Attempt[]) => readonly string[];
}[] = [
  { ofRow: ({ own }) => own?.id ?? "", ofThread: (thread) => thread.flatMap(({ id }) => id ?? []) },
  { ofRow: ({ identity }) => identity.content, ofThread: (thread) => [thread.at(-1)?.content ?? ""] },
  { ofRow: ({ identity }) => identity.payment, ofThread: (thread) => [thread.at(-1)?.payment ?? ""] },
  { ofRow: () => "", ofThread: () => [""] },
];

function paired(
  members: readonly Member[],
  threads: readonly (readonly Attempt[])[],
): ReadonlyMap<Member, readonly Attempt[]> {
  const found = new Map<Member, readonly Attempt[]>();
  const free = new Set(threads);
  // By content, so that the order of the list decides nothing.
  const ordered = members.toSorted(({ identity: one }, { identity: other }) =>
    one.content < other.content ? -1 : one.content > other.content ? 1 : 0,
  );
  for (const { ofRow, ofThread } of MARKS) {
    const marked = new Map<string, (readonly Attempt[])[]>();
    for (const thread of [...free].toReversed())
      for (const mark of ofThread(thread)) addTo(marked, mark, thread);
    for (const member of ordered) {
      if (found.has(member)) continue;
      const candidates = marked.get(ofRow(member)) ?? [];
      let thread = candidates.pop();
      while (thread !== undefined && !free.has(thread)) thread = candidates.pop();
      if (thread === undefined) continue;
      free.delete(thread);
      found.set(member, thread);
    }
  }
  return found;
}

/** The links that more than one row of a results file has: a row was copied, to make another of it. */
function sharedIds(rows: readonly RowToPlan[]): ReadonlySet<string> {
  const ids = rows.flatMap(({ own }) => own?.id ?? []);
  const seen = new Set<string>();
  return new Set(ids.filter((id) => seen.has(id) || !seen.add(id)));
}

// One row, with all that was sent for it.

function planned(
  row: RowToPlan,
  { isTwice, isEarlier, occurrence, own, others }: Pair,
  shared: ReadonlySet<string>,
  again: Again | undefined,
): PlannedRow {
  const { identity, isValid, isChosen } = row;
  if (!isChosen) return { ...NEVER_SENT, state: "skipped" };
  if (identity === undefined) return NEVER_SENT;
  const newest = own.at(-1);
  if (isEarlier && newest !== undefined) return { ...NEVER_SENT, state: ownState(newest), link: newest };
  const order = orderOf(identity, own, others);
  const { payable, links, all } = order;
  const [state, link] = isTwice ? (["twice", undefined] as const) : stateOf(identity, order, shared);
  const isMeant = state === "new" || isAgain(again, { state, link, newest });
  const isDue = isMeant && isValid;
  return {
    state: isMeant && !isValid ? "invalid" : state,
    isDue,
    isLeft: !isMeant && isLeft(again, { state, link, newest, identity, payable }),
    claim: { occurrence, attempt: Math.max(0, ...own.map(({ attempt }) => attempt)) + 1 },
    link,
    others:
      isDue && again === "changed"
        ? []
        : payable.filter((one) => one.status !== undefined && (isDue || one !== link)),
    cancels: isDue && again === "changed" ? links.filter(isOpen).flatMap(({ id }) => id ?? []) : [],
    isForOther: link !== undefined && !isFor(identity, link),
    differs: link?.content !== undefined && link.content !== identity.content,
    isElsewhere: all.some(({ source }) => source === "service"),
  };
}

const ownState = (attempt: Attempt): RowState =>
  attempt.status === "paid" ? "paid" : isEnded(attempt) ? "ended" : "sent";

const NEVER_SENT: PlannedRow = {
  state: "invalid",
  isDue: false,
  isLeft: false,
  claim: undefined,
  link: undefined,
  others: [],
  cancels: [],
  differs: false,
  isForOther: false,
  isElsewhere: false,
};

/** All that is known of the order of a row, and of its own attempts. */
interface KnownOrder {
  readonly all: readonly Attempt[];
  readonly newest: Attempt | undefined;
  /** The links, the oldest first; those of them that can be paid, as far as is known. */
  readonly links: readonly Attempt[];
  readonly payable: readonly Attempt[];
}

function orderOf(identity: RowIdentity, own: readonly Attempt[], others: readonly Attempt[]): KnownOrder {
  const known = [...others, ...own].filter((attempt) => !isOfAnotherKind(attempt, identity));
  // Another spelling is another order where this one was sent too.
  const spelled = known.filter((attempt) => isSpelled(attempt, identity));
  const all = spelled.length > 0 ? spelled : known;
  const links = all
    .filter(({ state }) => state === "created")
    .toSorted((one, other) => one.sentAt - other.sentAt);
  const last = links.at(-1);
  // Where the service has not said how a link stands, the newest counts as open.
  const payable = links.filter((link) => isOpen(link) && (link.status !== undefined || link === last));
  return { all, newest: own.at(-1), links, payable };
}

/** The verification of a card, made elsewhere, asks for nothing: a later charge is no second payment. */
const isOfAnotherKind = ({ source, payment }: Attempt, identity: RowIdentity): boolean =>
  source === "service" &&
  payment !== undefined &&
  rowAsksNothing(payment) &&
  !rowAsksNothing(identity.payment);

/** The amount of a reusable link may be 0: then the customer enters it. */
const rowAsksNothing = (payment: string): boolean => /^\S+ 0(?:\.0+)? (?!reusable )/.test(payment);

/** Whether a link can be paid, as far as is known. */
const isOpen = ({ status }: Attempt): boolean =>
  status !== "paid" && status !== "cancelled" && status !== "expired";

export const isEnded = (attempt: Attempt | undefined): boolean =>
  attempt?.state === "created" && (attempt.status === "cancelled" || attempt.status === "expired");

const isSpelled = ({ orderNumber }: Attempt, identity: RowIdentity | undefined): boolean =>
  orderNumber === "" || orderNumber === identity?.orderNumber;

const isOfAnotherOrder = ({ orderNumber }: Attempt, identity: RowIdentity | undefined): boolean =>
  orderNumber !== "" && numberKey(orderNumber) !== numberKey(identity?.orderNumber ?? "");

/** Whether a link asks for what the row asks for. What is not known agrees with anything. */
const isFor = ({ payment }: RowIdentity, link: Attempt): boolean =>
  link.payment === undefined || isSamePayment(payment, link.payment);

/** The state of a row, and what of all that was sent counts for it. */
function stateOf(
  identity: RowIdentity,
  { all, newest, links, payable }: KnownOrder,
  shared: ReadonlySet<string>,
): readonly [RowState, Attempt | undefined] {
  const misplaced = all.find((attempt) => isMisplaced(attempt, identity, shared));
  const respelled = all.find((attempt) => !isSpelled(attempt, identity));
  const paid = links.findLast(({ status }) => status === "paid");
  const same = payable.findLast((link) => isFor(identity, link));
  const open = same ?? payable.at(-1);
  const last = links.at(-1);
  if (newest?.state === "in flight") return ["in_flight", open ?? newest];
  if (misplaced !== undefined) return ["misplaced", misplaced];
  if (respelled !== undefined) return ["respelled", respelled];
  if (newest?.state === "unknown") return ["unknown", newest];
  if (paid !== undefined) return ["paid", paid];
  if (open !== undefined) return [same === undefined ? "changed" : "sent", open];
  if (newest?.state === "absent") return ["unknown", newest];
  if (last !== undefined) return [isFor(identity, last) ? "ended" : "changed", last];
  return ["new", undefined];
}

/** Whether results give the row a link that the service knows to be another order's, or that another row has too. */
function isMisplaced(attempt: Attempt, identity: RowIdentity, shared: ReadonlySet<string>): boolean {
  if (attempt.source !== "results" || attempt.id === null) return false;
  const isKnown = attempt.status !== undefined && attempt.orderNumber !== "";
  return isKnown ? isOfAnotherOrder(attempt, identity) : shared.has(attempt.id);
}

type Judged = Pick<PlannedRow, "state" | "link"> & { readonly newest: Attempt | undefined };

const NEVER: ReadonlySet<RowState> = new Set([
  "twice",
  "in_flight",
  "misplaced",
  "respelled",
  "skipped",
  "invalid",
]);

/** Whether a row that was sent is sent once more. A link of its order that is paid, or can be, keeps every form but `all` from that. */
function isAgain(again: Again | undefined, { state, link, newest }: Judged): boolean {
  if (again === undefined || NEVER.has(state)) return false;
  if (again === "all") return true;
  if (again === "unknown") return state === "unknown" && newest?.state === "absent";
  if (again === "changed") return state === "changed";
  return isEnded(link) && (again === "ended" || link?.status === "expired");
}

/** Whether `--again` was meant for a row that is not sent. */
function isLeft(
  again: Again | undefined,
  {
    state,
    link,
    newest,
    identity,
    payable,
  }: Judged & { readonly identity: RowIdentity; readonly payable: readonly Attempt[] },
): boolean {
  if (again === undefined || NEVER.has(state)) return false;
  if (state === "changed") return true;
  if (again === "unknown") return newest?.state === "unknown" || newest?.state === "absent";
  if (again === "changed")
    return link !== undefined && [link, ...payable].some((one) => !isFor(identity, one));
  return isEnded(newest) && !isEnded(link) && (again === "ended" || newest?.status === "expired");
}

/** Whether the row keeps the list from being sent: its customer would get a second link for one order. */
export const isHeldUp = ({ state, isDue }: PlannedRow, again: Again | undefined): boolean =>
  state === "changed" && !isDue && again === undefined;
