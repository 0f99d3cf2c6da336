/** The facts that an event store records about itself, each a text with a name: its identity, and what it has not kept. */
import type { Statements } from "./dialects.ts";
import { sql } from "./sql.ts";

/**
 * `store`: its identity, which no other one has. `created`: when it was made. `pruned`: before which time events were deleted.
 * `dropped`: until when rejected requests were not kept because there was no room. `schema`: on a server, the version of its tables. Times are
 * milliseconds since 1970.
 */
type FactName = "store" | "created" | "pruned" | "dropped" | "schema";

/** Undefined where the store does not have it. */
export async function factOf({ all, dialect }: Statements, name: FactName): Promise<string | undefined> {
  const [row] = await all(sql`SELECT value FROM ${dialect.schema}facts WHERE name = ${name}`);
  return row === undefined ? undefined : String(row["value"]);
}

export async function timeOfFact(
  statements: Statements,
  name: "created" | "pruned" | "dropped",
): Promise<number | undefined> {
  const text = await factOf(statements, name);
  return text === undefined ? undefined : Number(text);
}

/** Only where the time is later than before: under a flood, two groups on a server would wait for each other's row. */
export async function advanceFact(
  { all, dialect: { schema } }: Statements,
  name: "pruned" | "dropped",
  time: number,
): Promise<void> {
  // Times are compared as texts: all have 13 digits until the year 2286.
  await all(
    sql`INSERT INTO ${schema}facts (name, value) SELECT CAST(${name} AS text), CAST(${String(time)} AS text)
       WHERE NOT EXISTS (SELECT 1 FROM ${schema}facts WHERE name = ${name} AND value >= ${String(time)})
     ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE facts.value < excluded.value`,
  );
}
