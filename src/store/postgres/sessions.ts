/** What `target_session_attrs` asks of a session (PostgreSQL's manual, 34.1.2). */
import type { ClientBase } from "pg";
import type { Way } from "./ways.ts";

interface ServerRole {
  readonly isReadOnly: boolean;
  readonly isStandby: boolean;
}

/** Whether a session will do, and what is wrong with one that does not. */
const WANTED: Readonly<
  Record<Exclude<Way["session"], "any">, readonly [fits: (session: ServerRole) => boolean, problem: string]>
> = {
  "read-write": [({ isReadOnly }) => !isReadOnly, "it is read-only"],
  "read-only": [({ isReadOnly }) => isReadOnly, "it is not read-only"],
  primary: [({ isStandby }) => !isStandby, "it is a standby"],
  standby: [({ isStandby }) => isStandby, "it is not a standby"],
};

/** A failover may change what a server is, so waiting helps. */
export class UnwantedSession extends Error {
  /** SQLSTATE of a server that is read-only. */
  readonly code = "25006";
}

/** Throws `UnwantedSession`. */
export async function checkSession(client: ClientBase, wanted: Way["session"]): Promise<void> {
  if (wanted === "any") return;
  const { rows } = await client.query<ServerRole>(
    `SELECT pg_is_in_recovery() AS "isStandby",
       current_setting('transaction_read_only')::boolean AS "isReadOnly"`,
  );
  const [fits, problem] = WANTED[wanted];
  const [session] = rows;
  if (session === undefined || !fits(session))
    throw new UnwantedSession(`${problem}, and target_session_attrs is ${wanted}`);
}
