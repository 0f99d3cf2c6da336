/** What a run does with each row of a list, as a pure function of the rows, of what was sent before, and of the flags. */
import type { LinkStatus } from "../domain/payment-link-reply.ts";
import type { Attempt, SentKey } from "../store/sent-rows.ts";
import type { RowIdentity } from "./row.ts";

/** Which rows are sent once more. */
export const AGAIN = ["unknown", "ended", "changed", "all"] as const;
export type Again = (typeof AGAIN)[number];

/** An attempt to create the link of a row, of this memory or of a results file, which does not have all of it. */
export interface Known extends Pick<Attempt, "state" | "isInFlight" | "id" | "url" | "error"> {
  /** Undefined where only a results file has the link. */
  readonly sent: Attempt | undefined;
  /** As the service has it now; undefined where that is not known. */
  readonly status: LinkState | undefined;
}

export type LinkState = LinkStatus;

/** A link that a results file has. */
export interface ResultLink extends Pick<Attempt, "id" | "url" | "error"> {
  readonly state: "created" | "unknown";
}

/** A row as it is planned. */
export interface RowToPlan {
  /** Undefined for a row that cannot be sent. */
  readonly identity: RowIdentity | undefined;
  /** The link that the row itself has, if the list is a results file. */
  readonly own: ResultLink | undefined;
  /** False for a row whose date of expiry has passed: it can only have been sent before. */
  readonly isValid: boolean;
}

/**
 * `new`: never sent. `sent`: its link can still be paid, as far as is known. `changed`: sent with another amount, currency, kind
 * or type. `ended`: the link was cancelled, or has expired unpaid. `unknown`: the link may exist. `in_flight`: another run is
 * sending it. `twice`: the list repeats the row, or its order number.
 */
export type RowState =
  "new" | "sent" | "paid" | "ended" | "changed" | "unknown" | "in_flight" | "twice" | "invalid";

export interface PlannedRow {
  readonly state: RowState;
  /** Whether this run sends it. */
  readonly isDue: boolean;
  /** What is to be claimed before it is sent; undefined for a row that cannot be sent. */
  readonly claim: SentKey | undefined;
  /** What was sent before for the row, the newest last. */
  readonly known: readonly Known[];
  /** It was sent with other values that do not change what is paid. */
  readonly differs: boolean;
}

export interface PlanInput {
  /** In the order of the attempts. */
  readonly attempts: readonly Attempt[];
  /** The links of results files, by the key of their rows. */
  readonly results: ReadonlyMap<string, readonly ResultLink[]>;
  /** By the id of the link. */
  readonly states: ReadonlyMap<string, LinkState>;
  /** The keys of rows of unknown outcome for which the service has no link, as it says itself. */
  readonly without: ReadonlySet<string>;
}

export interface PlanOptions {
  readonly again: Again | undefined;
  readonly allowDuplicates: boolean;
}

/** In the order of the rows. */
export function plan(rows: readonly RowToPlan[], input: PlanInput, options: PlanOptions): PlannedRow[] {
  const planned = Array.from({ length: rows.length }, () => INVALID);
  const members = rows.flatMap(({ identity, own, isValid }, at) =>
    identity === undefined ? [] : [{ at, identity, own, isValid }],
  );
  const attempts = grouped(input.attempts, ({ key }) => key);
  for (const [key, group] of grouped(members, ({ identity }) => identity.key))
    for (const [at, row] of planGroup(group, attempts.get(key) ?? [], input, options)) planned[at] = row;
  return planned;
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

const INVALID: PlannedRow = { state: "invalid", isDue: false, claim: undefined, known: [], differs: false };

const NONE_KNOWN: readonly Known[] = [];

interface Member extends RowToPlan {
  /** Its place in the list. */
  readonly at: number;
  readonly identity: RowIdentity;
}

/** The rows with one order number, or of one content, and every attempt for them. */
function planGroup(
  members: readonly Member[],
  attempts: readonly Attempt[],
  { results, states, without }: PlanInput,
  { again, allowDuplicates }: PlanOptions,
): (readonly [at: number, row: PlannedRow])[] {
  const isTwice = members.length > 1 && !allowDuplicates;
  const sent = new Map<number, Known[]>();
  for (const attempt of attempts) {
    const known = { ...attempt, sent: attempt, status: stateOf(attempt.id, states) };
    sent.set(attempt.occurrence, [...(sent.get(attempt.occurrence) ?? []), known]);
  }
  const free = new Map(sent);
  const ids = new Set(attempts.flatMap(({ id }) => id ?? []));
  const links = [...(results.get(members[0]?.identity.key ?? "") ?? [])].filter(
    ({ id }) => id === null || !ids.has(id),
  );
  // By content, so that the order of the list decides nothing.
  const left = members.toSorted((one, other) => compareTexts(one.identity.content, other.identity.content));
  const found = new Map<Member, readonly [occurrence: number, known: readonly Known[]]>();
  const take = (fits: (member: Member, known: readonly Known[]) => boolean): void => {
    for (const member of left) {
      if (found.has(member)) continue;
      const [occurrence, known] = [...free].find(([, one]) => fits(member, one)) ?? [];
      if (occurrence === undefined || known === undefined) continue;
      free.delete(occurrence);
      found.set(member, [occurrence, known]);
    }
  };
  take(({ own }, known) => own !== undefined && own.id !== null && known.some(({ id }) => id === own.id));
  take(({ identity }, known) => known.at(-1)?.sent?.content === identity.content);
  take(({ identity }, known) => known.at(-1)?.sent?.payment === identity.payment);
  take(() => true);
  let next = 1;
  for (const member of left) {
    if (found.has(member)) continue;
    while (sent.has(next)) next++;
    const link = member.own ?? links.shift();
    found.set(member, [next++, link === undefined ? NONE_KNOWN : [knownResult(link, states)]]);
  }
  return members.map((member) => {
    const [occurrence, before] = found.get(member) ?? [1, NONE_KNOWN];
    const { key } = member.identity;
    const attempt = Math.max(0, ...before.map((one) => one.sent?.attempt ?? 0)) + 1;
    const newest = before.at(-1);
    const known = isTwice ? "twice" : rowState(member.identity, newest);
    const isMeant =
      isDue(known, newest, again) && (again !== "unknown" || known === "new" || without.has(key));
    const state = member.isValid || !isMeant ? known : "invalid";
    const row = {
      state,
      isDue: isMeant && member.isValid,
      claim: { key, occurrence, attempt },
      known: before,
      differs: newest?.sent !== undefined && newest.sent.content !== member.identity.content,
    };
    return [member.at, row];
  });
}

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const stateOf = (id: string | null, states: PlanInput["states"]): LinkState | undefined =>
  id === null ? undefined : states.get(id);

const knownResult = (link: ResultLink, states: PlanInput["states"]): Known => ({
  ...link,
  isInFlight: false,
  sent: undefined,
  status: stateOf(link.id, states),
});

function rowState({ payment }: RowIdentity, newest: Known | undefined): RowState {
  if (newest === undefined) return "new";
  if (newest.state !== "created") return newest.isInFlight ? "in_flight" : "unknown";
  if (newest.sent !== undefined && newest.sent.payment !== payment) return "changed";
  if (newest.status === "paid") return "paid";
  return isEnded(newest) ? "ended" : "sent";
}

const isEnded = ({ status }: Known): boolean => status === "cancelled" || status === "expired";

function isDue(state: RowState, newest: Known | undefined, again: Again | undefined): boolean {
  if (state === "new") return true;
  if (state === "twice" || state === "in_flight" || state === "invalid" || newest === undefined) return false;
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
