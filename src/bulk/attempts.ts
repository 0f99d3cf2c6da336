/** What was sent for the rows of a list, from the three places that know it: the memory, results files, and the service itself. */
import type { PaylinkError } from "../domain/errors.ts";
import type { Api } from "../service/client.ts";
import type { Attempt, Memory } from "../store/sent-rows.ts";
import type { CheckedRow } from "./read.ts";
import { addTo } from "../values/groups.ts";
import { NearNumbers } from "./near-numbers.ts";
import { isSamePayment, NOT_SAID, orderKey } from "./row.ts";
import { askService, firstAsked, NOTHING_READ, type LinksReading } from "./service-links.ts";

export interface AttemptsParts {
  readonly rows: readonly CheckedRow[];
  readonly memory: Pick<Memory, "find">;
  /** Those of results files; the list's own are with its rows. */
  readonly results: readonly Attempt[];
  /** Its address in the canonical spelling. */
  readonly service: string;
  /** Opens the client that reads the links; undefined without an account. */
  readonly api: (() => Promise<Pick<Api, "listLinks">>) | undefined;
  /** Milliseconds; 0 to ask for known links alone. */
  readonly lookBack: number;
  readonly now: Date;
}

export interface KnownAttempts {
  /** By the key of their rows, the oldest first. */
  readonly byKey: ReadonlyMap<string, readonly Attempt[]>;
  /** Attempts of unknown outcome, with the link that the service has of them: the memory does not know it yet. */
  readonly found: readonly Attempt[];
  /** The number of another row or link that is nearly that of a row, by the key of the row. */
  readonly near: ReadonlyMap<string, string>;
  readonly reading: Pick<LinksReading, "links" | "since">;
  /** Why the links of the service could not be read; undefined if they were, or need not be. */
  readonly failure: PaylinkError | undefined;
}

export async function attemptsOf(parts: AttemptsParts): Promise<KnownAttempts> {
  const { memory, service, api, lookBack, now } = parts;
  const rows = parts.rows.filter(({ isChosen }) => isChosen);
  const remembered = await rememberedOf(rows, memory);
  const rowsWithOrders = rows.filter(({ identity }) => identity !== undefined && identity.orderNumber !== "");
  const isOrder = new Set(rowsWithOrders.map(({ identity }) => identity?.key ?? ""));
  const ids = new Set(remembered.flatMap(({ id }) => id ?? []));
  const named = new Set<string>();
  // The list, and the results of an earlier run of it, may name one link of a row.
  const inResults = [...rows.flatMap(({ own }) => own ?? []), ...parts.results].filter(({ key, id }) => {
    if (id === null) return true;
    const isKnown = ids.has(id) || named.has(`${key} ${id}`);
    named.add(`${key} ${id}`);
    return !isKnown;
  });
  const known = [...remembered, ...inResults];
  // With a look-back of 0, a row is asked for only where something is known of it.
  const orders =
    lookBack > 0 ? isOrder : new Set(known.map(({ key }) => key).filter((key) => isOrder.has(key)));
  const near = new NearNumbers(rowsWithOrders.flatMap(({ identity }) => identity ?? []));
  const wanted = {
    terminals: new Set(rows.flatMap(({ identity }) => identity?.terminal ?? [])),
    ids: new Set(known.flatMap(({ id }) => id ?? [])),
    keyOf: (terminal: string, orderNumber: string) => {
      const key = orderKey(service, terminal, orderNumber);
      if (orders.has(key)) return key;
      near.addLink(terminal, orderNumber, key);
      return undefined;
    },
    since: firstAsked({ known, lookBack: orders.size > 0 ? lookBack : 0, now }),
    until: remembered.reduce((last, { sentAt }) => Math.max(last, sentAt), 0),
  };
  const isAsked = api !== undefined && orders.size + wanted.ids.size > 0;
  const reading = isAsked ? await askService(api, wanted, now) : NOTHING_READ;
  const { failure } = reading;
  const isRead = isAsked && failure === undefined;
  const byKey = new Map<string, Attempt[]>();
  const place = (attempt: Attempt): void => addTo(byKey, attempt.key, attempt);
  for (const attempt of known) place(asRead(attempt, reading));
  for (const link of reading.ofOrders)
    if (byKey.get(link.key)?.some(({ id }) => id === link.id) !== true) place(link);
  const found: Attempt[] = [];
  for (const [key, attempts] of byKey) {
    const settled = withOutcomes(attempts, isRead && isOrder.has(key));
    const before = new Set(attempts);
    for (const attempt of settled)
      if (!before.has(attempt) && attempt.source === "memory" && attempt.status !== undefined)
        found.push(attempt);
    byKey.set(
      key,
      settled.toSorted((one, other) => one.sentAt - other.sentAt),
    );
  }
  return { byKey, found, near: near.others, reading, failure };
}

/** Rows whose attempts are looked for at the same time. */
const LOOKED_FOR = 10_000;

async function rememberedOf(
  rows: readonly CheckedRow[],
  memory: Pick<Memory, "find">,
): Promise<readonly Attempt[]> {
  const keys = [...new Set(rows.flatMap(({ identity }) => identity?.key ?? []))];
  const found: Attempt[] = [];
  for (let from = 0; from < keys.length; from += LOOKED_FOR)
    found.push(...(await memory.find(keys.slice(from, from + LOOKED_FOR))));
  return found;
}

/**
 * With what the service says of its link, and of its payment where it says otherwise. The memory knows better what else was asked for; a
 * row of results may have been edited.
 */
function asRead(attempt: Attempt, { byId }: LinksReading): Attempt {
  const link = attempt.id === null ? undefined : byId.get(attempt.id);
  if (link === undefined) return attempt;
  const { status, sentAt } = link;
  const isRemembered = attempt.source === "memory";
  const isAgreed = isSamePayment(attempt.payment ?? "", link.payment ?? NOT_SAID);
  return {
    ...attempt,
    status,
    sentAt,
    payment: isRemembered && isAgreed ? attempt.payment : (link.payment ?? attempt.payment),
    orderNumber: isRemembered ? attempt.orderNumber : link.orderNumber || attempt.orderNumber,
  };
}

/**
 * Gives attempts of unknown outcome the links that others know of them. A run that could no longer write to its memory has written
 * its results; a link whose answer was lost is at the service. `isRead`: the service has said which links there are. The link that the
 * service has of an attempt in flight is that attempt's: no other row of the order has it.
 */
function withOutcomes(attempts: readonly Attempt[], isRead: boolean): Attempt[] {
  const links = attempts.filter(({ source, state }) => source !== "memory" && state === "created");
  const left = new Set(links);
  const settled = attempts.map((attempt): Attempt => {
    const isInFlight = attempt.state === "in flight";
    if (attempt.state !== "unknown" && !isInFlight) return attempt;
    const own = links.find(
      (link) => left.has(link) && isLinkOf(link, attempt) && !(isInFlight && link.source === "results"),
    );
    if (own !== undefined) left.delete(own);
    if (isInFlight) return own === undefined ? attempt : { ...attempt, id: own.id, url: own.url };
    if (own === undefined) return isRead ? { ...attempt, state: "absent" } : attempt;
    const { id, url, status, sentAt } = own;
    const payment = own.status === undefined ? attempt.payment : (own.payment ?? attempt.payment);
    return { ...attempt, state: "created", id, url, error: null, status, sentAt, payment };
  });
  const taken = new Set(links.filter((link) => !left.has(link)));
  return settled.filter((attempt) => !taken.has(attempt));
}

/** The cells of results may have been edited since; what the service says must agree. */
const isLinkOf = (link: Attempt, { payment }: Attempt): boolean =>
  link.source === "results" ||
  payment === undefined ||
  link.payment === undefined ||
  isSamePayment(payment, link.payment);
