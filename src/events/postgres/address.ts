/** Where a PostgreSQL server is and how to log in: from a URL, libpq's environment variables and its password file. */
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { platform, userInfo } from "node:os";
import { join } from "node:path";
import { hint, PaylinkError } from "../../domain/errors.ts";
import { nearest } from "../../domain/parse-result.ts";
import { withoutPassword } from "../../domain/addresses.ts";
import type { Environment } from "../../settings/resolved-settings.ts";

export const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
export type SslMode = (typeof SSL_MODES)[number];

export interface ServerAddress {
  /** A name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Undefined if none is configured: some servers need none. */
  readonly password: () => Promise<string | undefined>;
  readonly sslMode: SslMode;
  /** Files; the root certificates may be `system`. */
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
  readonly applicationName: string;
  /** For messages: without the password. */
  readonly name: string;
}

/** The parameters of the URL, each with its environment variable. */
const PARAMETERS = {
  host: "PGHOST",
  port: "PGPORT",
  user: "PGUSER",
  dbname: "PGDATABASE",
  password: "PGPASSWORD",
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
  application_name: "PGAPPNAME",
} as const;
type Parameter = keyof typeof PARAMETERS;
const PARAMETER_NAMES = Object.keys(PARAMETERS);

/** The folders of Unix sockets: the first on Debian and Fedora, the second is the default of PostgreSQL. */
const SOCKET_FOLDERS = ["/var/run/postgresql", "/tmp"];

/** Throws `usage`. */
export function parseServerAddress(text: string, env: Environment): ServerAddress {
  const url = new URL(text);
  for (const name of url.searchParams.keys())
    if (!PARAMETER_NAMES.includes(name)) throw unknownParameter(name, url);
  const inUrl: Partial<Record<Parameter, string>> = {
    host: decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, "$1"),
    port: url.port,
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    dbname: decodeURIComponent(url.pathname.slice(1)),
  };
  const find = (name: Parameter): string | undefined =>
    inUrl[name] || url.searchParams.get(name) || env[PARAMETERS[name]] || undefined;
  const port = Number(find("port") ?? 5432);
  const host = find("host") ?? localServer(port);
  const user = find("user") ?? ownName();
  const database = find("dbname") ?? user;
  const mode = find("sslmode") ?? "prefer";
  const sslMode = SSL_MODES.find((known) => known === mode);
  if (sslMode === undefined)
    throw new PaylinkError("usage", `The sslmode "${mode}" does not exist.`, {
      hints: [hint`Use one of ${SSL_MODES.join(", ")}.`],
    });
  const password = find("password");
  return {
    host,
    port,
    user,
    database,
    password: async () => password ?? passwordFromFile({ host, port, database, user }, env),
    sslMode,
    sslRootCert: find("sslrootcert"),
    sslCert: find("sslcert"),
    sslKey: find("sslkey"),
    applicationName: find("application_name") ?? "paylink",
    name: `postgres://${user}@${host.startsWith("/") ? encodeURIComponent(host) : host}:${port}/${database}`,
  };
}

const localServer = (port: number): string =>
  SOCKET_FOLDERS.find((folder) => existsSync(`${folder}/.s.PGSQL.${port}`)) ?? "localhost";

/** Some containers run as a user without a name. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    throw new PaylinkError("usage", "The URL of the event store names no user.", {
      hints: [hint`Write it as postgres://<user>@<host>/<database>, or set PGUSER.`],
    });
  }
}

const PARAMETERS_ARE = `The parameters are ${PARAMETER_NAMES.join(", ")}.`;

function unknownParameter(name: string, url: URL): PaylinkError {
  const shown = withoutPassword(url.href);
  // The name may be the rest of a password with an unescaped `&`.
  if (url.searchParams.has("password"))
    return new PaylinkError("usage", `${shown} has an unknown parameter.`, {
      hints: [[`In a password, write %26 for &. ${PARAMETERS_ARE}`]],
    });
  const meant = nearest(name, PARAMETER_NAMES);
  return new PaylinkError("usage", `${shown} has an unknown parameter: ${name}.`, {
    hints: [meant === undefined ? [PARAMETERS_ARE] : hint`Did you mean ${meant}?`],
  });
}

interface Login {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/**
 * The password of libpq's password file: one line for each server, with host, port, database, user and password. That of the
 * first line that matches. Throws `file_unreadable` if others may read the file.
 */
async function passwordFromFile(
  { host, port, database, user }: Login,
  env: Environment,
): Promise<string | undefined> {
  const path = env["PGPASSFILE"] || join(env["HOME"] ?? "", ".pgpass");
  const text = await readOwnFile(path);
  const wanted = [host.startsWith("/") ? "localhost" : host, String(port), database, user];
  for (const line of text?.split(/\r?\n/) ?? []) {
    if (line.startsWith("#")) continue;
    const fields = fieldsOf(line);
    if (wanted.every((value, index) => fields[index] === "*" || fields[index] === value))
      return fields[wanted.length];
  }
  return undefined;
}

/** Colons separate the fields; a backslash escapes a colon or a backslash. */
const fieldsOf = (line: string): string[] =>
  [...line.matchAll(/((?:\\.|[^\\:])*)(?::|$)/g)].map(([, field = ""]) => field.replace(/\\(.)/g, "$1"));

async function readOwnFile(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    // Like libpq, paylink uses no file that others can read.
    if (platform() === "win32" || (mode & 0o077) === 0) return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
  throw new PaylinkError("file_unreadable", `Others may read the password file ${path}, so it is not used.`, {
    hints: [hint`chmod 600 ${path}`],
  });
}
