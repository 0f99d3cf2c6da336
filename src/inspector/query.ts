/** What the address of the list asks for: its filters, which a colleague who opens the same address gets too. */
import { scaledAmount } from "../domain/money.ts";
import { outcomeNamed } from "../domain/outcome.ts";
import type { ForwardState, RunKeys } from "../events/event.ts";
import type { EventQuery, Sought } from "../store/event-query.ts";
import { periodIn } from "../pages/filters.ts";
import { filtersIn } from "../pages/list-page.ts";
import type { InspectorView } from "./frame.ts";

const FILTERS = ["outcome", "path", "keys", "time", "from", "to"] as const;
export type EventFilters = Readonly<Record<"text" | "state" | (typeof FILTERS)[number], string>>;

export const eventFilters = (asked: Readonly<Record<string, string>>): EventFilters =>
  filtersIn(FILTERS, asked);

/** The states that events are filtered by, in the words of `events`. */
export const LISTED_STATES = [
  "pending",
  "failed",
  "delivered",
  "skipped",
  "rejected",
] as const satisfies readonly (ForwardState | "rejected")[];

/** The text finds the first two; the choice of keys makes the others. */
type WithoutField = "reference" | "order" | "keys" | "otherThan";

export interface ParsedFilters {
  readonly query: EventQuery;
  /** A filter that cannot be read: the list shows nothing, since it would show too much. */
  readonly problem?: string;
}

export function queryFrom(
  filters: EventFilters,
  { now, keys }: Pick<InspectorView, "now" | "keys">,
): ParsedFilters {
  const { text, state, outcome, path } = filters;
  const { since, until, problem: unreadable } = periodIn(filters, now);
  const problems = unreadable === undefined ? [] : [unreadable];
  const among = <T>(name: string, value: string, found: T | undefined): T | undefined => {
    if (value !== "" && found === undefined) problems.push(`There is no ${name} ${value}.`);
    return found;
  };
  const query = {
    sought: text === "" ? undefined : soughtIn(text),
    state: among(
      "state",
      state,
      LISTED_STATES.find((one) => one === state),
    ),
    outcome: among("outcome", outcome, outcomeNamed(outcome)),
    path: path === "" ? undefined : path,
    ...(keys === undefined ? {} : among("choice of keys", filters.keys, chosenKeys(filters.keys, keys))),
    since,
    until,
  } satisfies EventQuery & Record<Exclude<keyof EventQuery, WithoutField>, unknown>;
  const [problem] = problems;
  return { query, ...(problem === undefined ? {} : { problem }) };
}

/** The events of these keys, or of others; undefined for what is no such choice. */
function chosenKeys(choice: string, keys: RunKeys): Pick<EventQuery, "keys" | "otherThan"> | undefined {
  if (choice === "own") return { keys };
  return choice === "other" ? { otherThan: keys } : undefined;
}

/** What a text may be, besides an order number, a uti or an id. */
export function soughtIn(text: string): Sought {
  const [, status] = /^([1-5]\d\d)$/.exec(text) ?? [];
  const [, card] = /^(?:[*•xX.… ]*)(\d{4})$/.exec(text) ?? [];
  return {
    text,
    ...soughtAmount(text),
    ...(status === undefined ? {} : { status: Number(status) }),
    ...(card === undefined ? {} : { card }),
    ...(isWording(text) ? { words: text.toLowerCase() } : {}),
  };
}

/** Not an order number, an id or a sum, as far as one can see it: `connection refused`, `ECONNREFUSED`. */
const isWording = (text: string): boolean => /\p{L}{4}/u.test(text) && (/\s/.test(text) || !/\d/.test(text));

/** `10`, `10.00`, `1,234.50`, `EUR 10`, `10 eur`. */
function soughtAmount(text: string): Pick<Sought, "amount" | "currency"> {
  const [, before, spelled = "", after] =
    /^(?:([A-Za-z]{3})\s*)?([\d.,]{1,20})(?:\s*([A-Za-z]{3}))?$/.exec(text) ?? [];
  const plain = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(spelled)
    ? spelled.replaceAll(",", "")
    : spelled.replace(/^(\d+),(\d{1,2})$/, "$1.$2");
  if (!/^\d+(?:\.\d+)?$/.test(plain)) return {};
  const amount = scaledAmount(plain);
  const currency = (before ?? after)?.toUpperCase();
  return amount === undefined ? {} : { amount, ...(currency === undefined ? {} : { currency }) };
}
