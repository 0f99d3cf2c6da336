/** Explains failures of PostgreSQL: what happened, what it means for webhooks, and what to do. */
import { PaylinkError } from "../../domain/errors.ts";
import { messageOf, codeOf } from "../../domain/system-reason.ts";
import type { ServerAddress } from "./address.ts";

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

const TABLES_GONE =
  "Let the address lead to the database with the events, or restore a backup. Only a start of listen creates tables.";

/** By SQLSTATE or its class (two characters), or by the code of a system call. */
const FAILURES: Readonly<Record<string, (address: ServerAddress, reason: string) => Failure>> = {
  ECONNREFUSED: () => unreachable("refused the connection", RUNNING),
  ENOENT: () => unreachable("has no such socket", RUNNING),
  ENOTFOUND: ({ host }) => unreachable(`cannot be found: the host ${host} is unknown`, RUNNING),
  EAI_AGAIN: ({ host }) => unreachable(`cannot be found: the host ${host} is unknown`, RUNNING),
  EHOSTUNREACH: () => unreachable("cannot be reached: there is no route to the host", RUNNING),
  ENETUNREACH: () => unreachable("cannot be reached: there is no route to the network", RUNNING),
  ETIMEDOUT: () => unreachable("did not answer in time", RUNNING),
  "28P01": ({ user }) => unusable(`refused the password of ${user}`, LOGIN),
  "28": (_, reason) => unusable(`refused the login: ${reason}`, LOGIN),
  "3D000": ({ database, user }) =>
    unusable(`has no database "${database}"`, `Create it: createdb -O ${user} ${database}`),
  "42501": ({ database, user }, reason) =>
    unusable(
      `does not let ${user} create or use paylink's tables: ${reason}`,
      `As an administrator of the database "${database}": CREATE SCHEMA paylink AUTHORIZATION "${user}"`,
    ),
  "42P01": () => unusable("has lost paylink's tables, or is another database than before", TABLES_GONE),
  "55P03": () =>
    unreachable("is in use by another program, such as a backup, and its tables wait for an update", WAIT),
  "53100": () => unreachable("has no space left on its disk", WAIT),
  "53300": () => unreachable("has no connection left", WAIT),
  "53": (_, reason) => unreachable(`is short of resources: ${reason}`, WAIT),
  "25006": () => unreachable("is read-only, as a standby is", WAIT),
  "57014": () => unreachable("did not answer in time", WAIT),
  "57": (_, reason) => unreachable(`is being stopped or started: ${reason}`, WAIT),
  "08": (_, reason) => unreachable(`closed the connection: ${reason}`, WAIT),
};

/** Messages of the driver and of TLS, which have no code. */
const DRIVER_FAILURES: readonly [pattern: RegExp, failure: Failure][] = [
  [/timeout|timed out/i, unreachable("did not answer in time", RUNNING)],
  [/Connection terminated|ECONNRESET|EPIPE|socket/i, unreachable("closed the connection", WAIT)],
  [
    /does not support SSL/,
    unusable("does not support TLS", "Use sslmode=prefer or sslmode=disable, or set up TLS on the server."),
  ],
  [
    /certificate|altnames|self.signed|issuer/i,
    unusable(
      "has a certificate that is not trusted",
      "Check sslrootcert, and with sslmode=verify-full the name of the host.",
    ),
  ],
];

/** A failure of the server or the driver as a `PaylinkError`; any other error as it is. */
export function explained(error: unknown, address: ServerAddress): unknown {
  if (error instanceof PaylinkError || !(error instanceof Error)) return error;
  const reason = messageOf(error);
  const code = codeOf(error);
  const failure =
    (FAILURES[code] ?? FAILURES[code.slice(0, 2)])?.(address, reason) ??
    DRIVER_FAILURES.find(([pattern]) => pattern.test(`${code} ${reason}`))?.[1] ??
    unusable(`failed: ${reason}`, WAIT);
  return new PaylinkError(failure.code, `The event store ${address.name} ${failure.what}.`, {
    cause: error,
    hints: [[failure.hint]],
    details: { database: address.name, reason },
  });
}
