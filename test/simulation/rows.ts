/** The rows of a simulated world in its end, and what is counted of them, against what the world has seen. */
import { raw, sql } from "../../src/store/sql.ts";
import type { World } from "./world.ts";

interface EventRow {
  readonly id: string;
  readonly uti: string;
  readonly key: string;
  /** "null" for an event that is not to be forwarded. */
  readonly state: string;
  readonly isDue: boolean;
}

export async function checkRows(world: World): Promise<void> {
  // An end that is written between two readings would make them differ.
  await world.disk.writeAll();
  const rows = await eventRows(world);
  checkStored(world, rows);
  for (const row of rows) checkState(world, row);
  await checkBacklog(world);
  await checkStats(world);
  await checkAttempts(world);
}

async function eventRows({ disk }: World): Promise<readonly EventRow[]> {
  const rows = await disk.all(
    sql`SELECT id, uti, events.key AS key, state, due FROM events LEFT JOIN deliveries ON event = id`,
  );
  return rows.map((row) => ({
    id: String(row["id"]),
    uti: String(row["uti"]),
    key: String(row["key"]),
    state: String(row["state"]),
    isDue: row["due"] !== null,
  }));
}

function checkStored({ payments, trace }: World, rows: readonly EventRow[]): void {
  const ids = new Set(rows.map(({ id }) => id));
  for (const { payment, events, pruned, isAcknowledged } of payments.all) {
    const isThere = [...events].some((event) => ids.has(event) || pruned.has(event));
    if (isAcknowledged && !isThere) trace.broken(`${payment.uti} was acknowledged, and is not stored`);
  }
}

function checkState(world: World, { id, uti, key, state, isDue }: EventRow): void {
  const { trace } = world;
  const known = world.payments.byUti(uti);
  if (known.accepted.length === 0 && state === "delivered")
    trace.broken(`${id} is marked as delivered, and no application has accepted it`);
  if (known.skipped.has(id) !== (state === "skipped"))
    trace.broken(`${id} is ${state}, and an operator ${state === "skipped" ? "has not" : "has"} skipped it`);
  if (state === "null") trace.broken(`${id} is not to be forwarded`);
  const isWaiting = state === "pending" || state === "trying";
  if (isWaiting !== isDue) trace.broken(`${id} is ${state}, and ${isDue ? "" : "not "}due`);
  if (!world.queuedKeys().includes(key) || world.hangs(uti)) return;
  if (isWaiting) trace.broken(`${id} still waits (${state})`);
  if (state === "failed") trace.broken(`${id} failed, although it was retried`);
}

async function count({ disk }: World, where: string): Promise<number> {
  const [row] = await disk.all(sql`SELECT count(*) AS n FROM deliveries WHERE ${raw(where)}`);
  return Number(row?.["n"]);
}

const STATES = [
  ["pending", "due IS NOT NULL"],
  ["failed", "state = 'failed'"],
  ["skipped", "state = 'skipped'"],
  ["delivered", "state = 'delivered'"],
] as const;

async function checkBacklog(world: World): Promise<void> {
  const [waiting, failed] = [await count(world, "due IS NOT NULL"), await count(world, "state = 'failed'")];
  const backlog = world.operator.store.backlog();
  await world.disk.writeAll();
  const { keys } = await backlog;
  const sum = (of: "events" | "failed"): number => keys.reduce((total, one) => total + one[of], 0);
  if (sum("events") !== waiting || sum("failed") !== failed)
    world.trace.broken(`the backlog is ${sum("events")} and ${sum("failed")}, not ${waiting} and ${failed}`);
}

async function checkStats(world: World): Promise<void> {
  const { keys } = await world.operator.store.stats(new Date(0), world.now());
  for (const [state, where] of STATES) {
    const counted = keys.reduce((total, one) => total + one[state].events, 0);
    const number = await count(world, where);
    if (counted !== number) world.trace.broken(`${counted} are counted as ${state}, of ${number}`);
  }
}

async function checkAttempts({ disk, payments, trace }: World): Promise<void> {
  const accepted = await disk.all(
    sql`SELECT uti, count(*) AS n FROM attempts JOIN events ON id = event WHERE status BETWEEN 200 AND 299 GROUP BY uti`,
  );
  for (const row of accepted) {
    const [uti, stored] = [String(row["uti"]), Number(row["n"])];
    const made = payments.byUti(uti).accepted.length;
    if (stored > made) trace.broken(`${stored} attempts of ${uti} are stored as accepted, and ${made} were`);
  }
}
