/** Explains the common failures of PostgreSQL: what happened, what it means for webhooks, and what to do. */
import { PaylinkError } from "../../domain/errors.ts";
import { messageOf, codeOf } from "../../domain/system-reason.ts";

/** The server and the database, for messages. */
export interface Server {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Its URL, without the password. */
  readonly name: string;
}

/** Whether the server refused one row, or one that waits for another group's, so that other rows can be stored. */
export const isAboutOneRow = (error: unknown): boolean => /^(?:22|23|40|54)/.test(causeCode(error));

const causeCode = (error: unknown): string => codeOf(error instanceof PaylinkError ? error.cause : error);

interface Failure {
  readonly code: "database_unreachable" | "database_unusable";
  readonly what: string;
  readonly hint: string;
}

const unreachable = (what: string, hint: string): Failure => ({ code: "database_unreachable", what, hint });
const unusable = (what: string, hint: string): Failure => ({ code: "database_unusable", what, hint });

const RUNNING = "Check that the server is running and that the host and the port are right.";
const LOGIN = "Check the user, and the password in PAYLINK_DB, PGPASSWORD or .pgpass.";
const WAIT = "Nothing is lost: the service repeats webhooks that were answered 503.";
const TLS =
  "Add sslmode=require to the URL for TLS without a check of the certificate, sslmode=verify-full and sslrootcert=<file> to check it, or sslmode=disable.";

/** The failures that people meet, by SQLSTATE, by the code of a system call or by the driver's words; the first counts. */
const FAILURES: readonly [pattern: RegExp, failure: (server: Server, reason: string) => Failure][] = [
  [/^ECONNREFUSED/, () => unreachable("refused the connection", RUNNING)],
  [
    /^(?:ENOTFOUND|EAI_AGAIN)/,
    ({ host }) => unreachable(`cannot be found: the host ${host} is unknown`, RUNNING),
  ],
  [/^28P01/, ({ user }) => unusable(`refused the password of ${user}`, LOGIN)],
  [/client password must be/, () => unusable("asks for a password, and none is configured", LOGIN)],
  [
    /^3D000/,
    ({ database, user }) =>
      unusable(`has no database "${database}"`, `Create it: createdb -O ${user} ${database}`),
  ],
  [
    /does not support SSL|no encryption|^ERR_(?:TLS|SSL)|CERT|SIGNATURE/,
    (_, reason) => unusable(`cannot be used with this sslmode: ${reason}`, TLS),
  ],
  [/^53300/, () => unreachable("has no connection left", WAIT)],
  // 08 connection, 25006 read-only, 53 resources, 57 stopped or too slow; the network and the driver have no SQLSTATE.
  [
    /^(?:08|25006|53|57|E[A-Z]+ )|terminated|timeout|timed out|not queryable/,
    (_, reason) => unreachable(`cannot be used now: ${reason}`, WAIT),
  ],
];

/** A failure of the server or the driver as a `PaylinkError`; any other error as it is. */
export function explained(error: unknown, server: Server): unknown {
  if (error instanceof PaylinkError || !(error instanceof Error)) return error;
  const reason = messageOf(error);
  const text = `${codeOf(error)} ${reason}`;
  const failure =
    FAILURES.find(([pattern]) => pattern.test(text))?.[1](server, reason) ??
    unusable(`failed: ${reason}`, WAIT);
  return new PaylinkError(failure.code, `The event store ${server.name} ${failure.what}.`, {
    cause: error,
    hints: [[failure.hint]],
    details: { database: server.name, reason },
  });
}
