/** Brings together what is known of the rows of a list, from the memory, from results files and from the service, and plans the run. */
import type { Api } from "../service/client.ts";
import type { Attempt, Memory, SentKey, SentLink } from "../store/sent-rows.ts";
import type { PaylinkError } from "../domain/errors.ts";
import type { CheckedRow } from "./check-rows.ts";
import { askService, type ServiceLinks, type Wanted } from "./link-states.ts";
import { plan, type PlannedRow, type PlanOptions, type ResultLink } from "./plan.ts";
import { isSamePayment } from "./row.ts";

export interface PlanParts {
  readonly rows: readonly CheckedRow[];
  readonly memory: Pick<Memory, "find">;
  /** The links of results files, by the key of their rows. */
  readonly results: ReadonlyMap<string, readonly ResultLink[]>;
  /** Opens the client that reads the links. */
  readonly api: () => Promise<Api>;
  readonly now: Date;
  readonly options: PlanOptions;
}

export interface PlannedList {
  readonly planned: readonly PlannedRow[];
  /** Why the service could not be asked for the links that were sent before. */
  readonly unasked: PaylinkError | undefined;
  /** Attempts of unknown outcome whose links the service has. */
  readonly found: readonly FoundLink[];
}

export interface FoundLink {
  readonly key: SentKey;
  readonly settled: SentLink & { readonly state: "created" };
}

export async function planList({
  rows,
  memory,
  results,
  api,
  now,
  options,
}: PlanParts): Promise<PlannedList> {
  const keys = new Set(rows.flatMap(({ identity }) => identity?.key ?? []));
  const attempts = await memory.find([...keys]);
  const links = [...[...results.values()].flat(), ...rows.flatMap(({ own }) => own ?? [])];
  const ids = new Set([...attempts, ...links].flatMap(({ id }) => id ?? []));
  const unknown = options.again === "unknown" ? newestUnknown(attempts) : new Map<string, Attempt>();
  const asked = rows.filter(({ identity }) => identity !== undefined && unknown.has(identity.key));
  const wanted: Wanted = {
    ids,
    orderNumbers: new Set(asked.flatMap(({ identity }) => identity?.orderNumber ?? [])),
    terminals: new Set(rows.flatMap(({ identity }) => identity?.terminal ?? [])),
    since: links.length > 0 ? 0 : firstOf(attempts),
  };
  const service = await askService(api, wanted, now);
  const { found, without } = resolve(asked, unknown, service, ids);
  const byAttempt = new Map(found.map((one) => [attemptText(one.key), one.settled]));
  const known = attempts.map((attempt) => ({ ...attempt, ...byAttempt.get(attemptText(attempt)) }));
  const planned = plan(rows, { attempts: known, results, links: service.links, without }, options);
  return { planned, unasked: service.failure, found };
}

const attemptText = ({ key, occurrence, attempt }: SentKey): string => [key, occurrence, attempt].join(" ");

/** When the first of them was sent. */
const firstOf = (attempts: readonly Attempt[]): number =>
  attempts.reduce((first, { sentAt }) => Math.min(first, sentAt), Number.MAX_SAFE_INTEGER);

/** The newest attempt of each row, where its outcome is not known. */
function newestUnknown(attempts: readonly Attempt[]): Map<string, Attempt> {
  const newest = new Map<string, Attempt>();
  for (const attempt of attempts) newest.set(attempt.key, attempt);
  return new Map([...newest].filter(([, { state, isInFlight }]) => state !== "created" && !isInFlight));
}

/** Which of the unknown attempts have a link at the service, and which have none for certain. */
function resolve(
  rows: readonly CheckedRow[],
  unknown: ReadonlyMap<string, Attempt>,
  { byOrder, failure }: ServiceLinks,
  ids: ReadonlySet<string>,
): { readonly found: FoundLink[]; readonly without: ReadonlySet<string> } {
  const found: FoundLink[] = [];
  const without = new Set<string>();
  for (const { identity } of rows) {
    const attempt = unknown.get(identity?.key ?? "");
    if (identity?.orderNumber === undefined || attempt === undefined || failure !== undefined) continue;
    const others = (byOrder.get(identity.orderNumber) ?? []).filter(({ id }) => !ids.has(id));
    const link = others.find(
      ({ payment }) => payment !== undefined && isSamePayment(attempt.payment, payment),
    );
    // A link of that order over another amount is nothing that paylink understands.
    if (others.length === 0) without.add(identity.key);
    if (link === undefined) continue;
    const { id, url } = link;
    found.push({ key: attempt, settled: { state: "created", id, url, error: null } });
  }
  return { found, without };
}
