/** Explains the common failures of PostgreSQL: what happened, what it means for webhooks, and what to do. */
import { PaylinkError } from "../../domain/errors.ts";
import { messageOf, codeOf } from "../../values/system-reason.ts";

/** One server and the database on it, for messages. */
export interface Server {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Host and port, as a URL has them. */
  readonly place: string;
}

/** A failed try to connect. */
export interface Failed {
  readonly server: Server;
  readonly error: unknown;
}

/** Whether the server refused one row, or one that waits for another group's, so that other rows can be stored. */
export const isAboutOneRow = (error: unknown): boolean => /^(?:22|23|40|54)/.test(causeCode(error));

const causeCode = (error: unknown): string => codeOf(error instanceof PaylinkError ? error.cause : error);

interface ServerFailure {
  /** Waiting helps where the database is unreachable, and does not where it is unusable. */
  readonly code: "database_unreachable" | "database_unusable";
  readonly what: string;
  readonly hint?: string;
}

type MakeServerFailure = (server: Server, reason: string) => ServerFailure;

const unreachable = (what: string, hint: string): ServerFailure => ({
  code: "database_unreachable",
  what,
  hint,
});
const unusableServer = (what: string, hint?: string): ServerFailure => ({
  code: "database_unusable",
  what,
  ...(hint === undefined ? {} : { hint }),
});

const RUNNING = "Check that the server is running and that the host and the port are right.";
const LOGIN = "Check the user, and the password in PAYLINK_DB, PGPASSWORD or .pgpass.";
/** True for every command: how often the service sends a webhook again is not documented. */
const ANSWERED_503 =
  "Run the command again later. Webhooks that arrive meanwhile are answered 503, so that the service sends them again.";
const TLS =
  "Add sslmode=require to the URL for TLS without a check of the certificate, sslmode=verify-full and sslrootcert=<file> to check it, or sslmode=disable.";

const noDatabase: MakeServerFailure = ({ database, user }) =>
  unusableServer(`has no database "${database}"`, `Create it: createdb -O ${user} ${database}`);

const wait: MakeServerFailure = (_, reason) => unreachable(`cannot be used now: ${reason}`, ANSWERED_503);

/** As PostgreSQL reads it back. */
const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * What a pool of connections such as PgBouncer reports, in its own words or in those of the server behind it, all as 08P01. What is
 * not in this table is waited for: a server that the pool does not reach, or has no place at.
 */
const BY_WORDS: readonly [words: RegExp, failure: MakeServerFailure][] = [
  [
    /no such database|database .* does not exist|does not allow connections/i,
    (server, reason) => ({ ...noDatabase(server, reason), what: `refused the login: ${reason}` }),
  ],
  [
    /no such user|role .* does not exist|authentication failed|auth failed|pg_hba\.conf|wrong password|not permitted to log in/i,
    (_, reason) => unusableServer(`refused the login: ${reason}`, LOGIN),
  ],
  [
    /unsupported startup parameter/i,
    (_, reason) =>
      unusableServer(
        `refused the login: ${reason}`,
        "Leave options out of the URL and PGOPTIONS, or add the parameter to ignore_startup_parameters of PgBouncer.",
      ),
  ],
  [
    /statement pooling/i,
    (_, reason) =>
      unusableServer(
        `cannot be used: ${reason}`,
        "Set pool_mode = transaction (or session) for this database in PgBouncer.",
      ),
  ],
  [
    /SSL required|TLS required/i,
    (_, reason) => unusableServer(`cannot be used with this sslmode: ${reason}`, TLS),
  ],
];

/** The failures that people meet, by SQLSTATE, by the code of a system call or by the driver's words; the first counts. */
const SERVER_FAILURES: readonly [pattern: RegExp, failure: MakeServerFailure][] = [
  [/^ECONNREFUSED/, () => unreachable("refused the connection", RUNNING)],
  [
    /^(?:ENOTFOUND|EAI_AGAIN)/,
    ({ host }) => unreachable(`cannot be found: the host ${host} is unknown`, RUNNING),
  ],
  [/^ENOENT/, ({ host }) => unreachable(`cannot be found: there is no socket in ${host}`, RUNNING)],
  [/^28P01/, ({ user }) => unusableServer(`refused the password of ${user}`, LOGIN)],
  [/client password must be/, () => unusableServer("asks for a password, and none is configured", LOGIN)],
  [/^3D000/, noDatabase],
  [
    /^ERR_CHANNEL_BINDING/,
    (_, reason) =>
      unusableServer(
        `cannot be used with channel_binding=require: ${reason}`,
        "It needs TLS, and a password that the server stores for scram-sha-256. PgBouncer and other pools may not offer it.",
      ),
  ],
  [
    /does not support SSL|no encryption|^ERR_(?:TLS|SSL)|CERT|SIGNATURE/,
    (_, reason) => unusableServer(`cannot be used with this sslmode: ${reason}`, TLS),
  ],
  [/^28/, (_, reason) => unusableServer(`refused the login: ${reason}`, LOGIN)],
  [
    /^42501 permission denied for database/,
    ({ user }, reason) =>
      unusableServer(
        `failed: ${reason}`,
        `Once, as a user who may: CREATE SCHEMA paylink AUTHORIZATION ${identifier(user)};`,
      ),
  ],
  [
    /^42501/,
    ({ user }, reason) =>
      unusableServer(
        `failed: ${reason}`,
        `As the owner of the tables: GRANT USAGE ON SCHEMA paylink TO ${identifier(user)}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA paylink TO ${identifier(user)}; (SELECT is enough to read)`,
      ),
  ],
  [/^08/, (server, reason) => (BY_WORDS.find(([words]) => words.test(reason))?.[1] ?? wait)(server, reason)],
  [/^53300/, () => unreachable("has no connection left", ANSWERED_503)],
  [
    /^25006/,
    (_, reason) =>
      unreachable(
        `cannot be used now: ${reason}`,
        `${ANSWERED_503} With several hosts, target_session_attrs=read-write finds the one that takes writes.`,
      ),
  ],
  // 53 resources, 57 stopped or too slow; the network and the driver have no SQLSTATE.
  [/^(?:53|57|E[A-Z]+ )|terminated|timeout|timed out|not queryable/, wait],
];

function serverFailure(error: Error, server: Server): ServerFailure {
  const reason = messageOf(error);
  const text = `${codeOf(error)} ${reason}`;
  const explain = SERVER_FAILURES.find(([pattern]) => pattern.test(text))?.[1];
  return explain?.(server, reason) ?? unusableServer(`failed: ${reason}`);
}

/** A failure of the server or the driver as a `PaylinkError`, where the event store is called `name`; any other error as it is. */
export function explained(error: unknown, server: Server, name: string): unknown {
  if (error instanceof PaylinkError || !(error instanceof Error)) return error;
  return errorOf(serverFailure(error, server), name, error);
}

const errorOf = ({ code, what, hint }: ServerFailure, name: string, cause: Error): PaylinkError =>
  new PaylinkError(code, `The event store ${name} ${what}.`, {
    cause,
    ...(hint === undefined ? {} : { hints: [[hint]] }),
    details: { database: name, reason: messageOf(cause) },
  });

/** Whether a server was not reached at all, so that another kind of encryption makes no difference. */
export const isNetworkFailure = (error: unknown): boolean =>
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOENT|EACCES)$/.test(
    codeOf(error),
  ) || /timeout|timed out/.test(messageOf(error));

/** Whether a server refused only that a connection has TLS, or has none. */
const isOfEncryption = (error: unknown): boolean =>
  /does not support SSL|(?:no|SSL) encryption$|SSL required|TLS required/.test(messageOf(error));

/** What the tries to connect failed with. Where the servers differ, each is named. */
export function failureToConnect(failures: readonly Failed[], name: string): unknown {
  const telling = failures.filter(({ error }) => !isOfEncryption(error));
  const found: { readonly failure: ServerFailure; readonly place: string; readonly error: Error }[] = [];
  for (const { error, server } of telling.length > 0 ? telling : failures) {
    if (error instanceof PaylinkError || !(error instanceof Error)) return error;
    if (!found.some(({ place }) => place === server.place))
      found.push({ failure: serverFailure(error, server), place: server.place, error });
  }
  const [first] = found;
  if (first === undefined) return new Error("there is no server");
  if (found.length === 1) return errorOf(first.failure, name, first.error);
  const { failure, error } = found.find(({ failure: { code } }) => code === "database_unusable") ?? first;
  const each = found.map(({ place, failure: { what } }) => `${place} ${what}`);
  return errorOf({ ...failure, what: `cannot be used: ${each.join("; ")}` }, name, error);
}
