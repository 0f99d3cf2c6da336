/** Where a database is, as its URL and the variables say: each server of it, with TLS or without as `sslmode` says, and the login. */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type * as tls from "node:tls";
import { hasCertificate } from "../../http/certificates.ts";
import { PaylinkError } from "../../domain/errors.ts";
import {
  CHANNEL_BINDINGS,
  PARAMETER_VARIABLES,
  parameterProblem,
  parsePostgresUrl,
  type PostgresParameters,
  type PostgresServer,
  SSL_MODES,
  type SslMode,
} from "./url.ts";
import { systemReason } from "../../values/system-reason.ts";
import type { Environment } from "../../values/typed-text.ts";

/** One server, reached with TLS or without. */
export interface Way extends PostgresServer {
  readonly ssl: false | tls.ConnectionOptions;
}

export interface Destination {
  /** In the order in which they are tried. Never empty. */
  readonly ways: readonly Way[];
  /** Whether a session that may only read is refused, and why. */
  readonly mustWrite: string | undefined;
  /** The driver takes what is undefined from libpq's variables. */
  readonly login: {
    readonly user: string | undefined;
    readonly password: string | undefined;
    readonly database: string | undefined;
    readonly options: string | undefined;
    readonly application_name: string | undefined;
    readonly sslnegotiation: "direct" | undefined;
    /** Takes channel binding where a server offers it. */
    readonly enableChannelBinding: boolean;
  };
  /** Whether a login without channel binding is refused. */
  readonly requiresChannelBinding: boolean;
  /** Milliseconds; undefined without a limit. */
  readonly connectTimeout: number | undefined;
}

/** Throws `usage` for what cannot be read, and for a value that libpq does not know. */
export function destinationOf(text: string, env: Environment): Destination {
  const parsed = parsePostgresUrl(text);
  if (!parsed.ok) throw unusableUrl(parsed.message);
  const { user, password, database, servers, parameters } = parsed.value;
  const values: PostgresParameters = { ...valuesFrom(env), ...parameters };
  const encryptions = encryptionsOf(values, env);
  const waysTo = (server: PostgresServer): readonly Way[] =>
    // As for libpq, there is no TLS on a Unix socket.
    (server.host?.startsWith("/") === true ? ([false] as const) : encryptions).map((ssl) => ({
      ...server,
      ssl,
    }));
  const { target_session_attrs: wanted = "any" } = values;
  const binding = knownWord(CHANNEL_BINDINGS, values.channel_binding);
  return {
    ways: (servers.length > 0 ? servers : serversFrom(env)).flatMap(waysTo),
    mustWrite: wanted === "any" ? undefined : `target_session_attrs is ${wanted}`,
    login: {
      user,
      password,
      database,
      options: values.options,
      application_name: values.application_name,
      sslnegotiation: values.sslnegotiation === "direct" ? "direct" : undefined,
      enableChannelBinding: binding === "prefer" || binding === "require",
    },
    requiresChannelBinding: binding === "require",
    connectTimeout: Number(values.connect_timeout) * 1000 || undefined,
  };
}

/** Such as a value that is misspelled, or a certificate that cannot be read. */
const unusableUrl = (problem: string, cause?: unknown): PaylinkError =>
  new PaylinkError("usage", `The address of the event store cannot be used: ${problem}.`, { cause });

function valuesFrom(env: Environment): PostgresParameters {
  const values: Record<string, string> = {};
  for (const [name, variable] of Object.entries(PARAMETER_VARIABLES)) {
    const value = env[variable] ?? "";
    if (value === "") continue;
    const problem = parameterProblem(name, value);
    if (problem !== undefined) throw unusableUrl(`${problem} (${variable})`);
    values[name] = value;
  }
  return values;
}

/** Undefined where the driver has its default, which its own reading of the variables changes. */
function serversFrom(env: Environment): readonly PostgresServer[] {
  const [hosts, ports] = [env["PGHOST"] ?? "", env["PGPORT"] ?? ""];
  const query = new URLSearchParams({ host: hosts, port: ports });
  const parsed = parsePostgresUrl(`postgres://?${query.toString()}`);
  if (!parsed.ok) throw unusableUrl(`${parsed.message} (PGHOST, PGPORT)`);
  return parsed.value.servers.length > 0 ? parsed.value.servers : [{ host: undefined, port: undefined }];
}

const knownWord = <T extends string>(words: readonly T[], value: string | undefined): T | undefined =>
  words.find((word) => word === value);

interface Files {
  /** The authorities to check the server's certificate with; undefined for those of Node. */
  readonly ca: string | undefined;
  /** paylink's own certificate. */
  readonly client: { readonly cert?: string; readonly key?: string };
}

/** As libpq means each mode (PostgreSQL's manual, 34.19.1): what is tried, in this order. */
const ENCRYPTIONS: Readonly<Record<SslMode, (files: Files) => readonly Way["ssl"][]>> = {
  disable: () => [false],
  allow: (files) => [false, unchecked(files)],
  prefer: (files) => [unchecked(files), false],
  require: (files) => [files.ca === undefined ? unchecked(files) : issued(files)],
  "verify-ca": (files) => [issued(files)],
  "verify-full": ({ ca, client }) => [{ ...client, ca }],
};

const unchecked = ({ client }: Files): tls.ConnectionOptions => ({ ...client, rejectUnauthorized: false });

function issued({ ca, client }: Files): tls.ConnectionOptions {
  // With the public authorities, anybody's certificate would do.
  if (ca === undefined) throw unusableUrl("sslmode=verify-ca needs sslrootcert=<file>; or use verify-full");
  return { ...client, ca, checkServerIdentity: () => undefined };
}

function encryptionsOf(values: PostgresParameters, env: Environment): readonly Way["ssl"][] {
  const { sslmode, sslrootcert, sslcert, sslkey, sslnegotiation } = values;
  const isSystem = sslrootcert === "system";
  const mode = knownWord(SSL_MODES, sslmode) ?? (isSystem ? "verify-full" : "prefer");
  if (isSystem && mode !== "verify-full")
    throw unusableUrl(`sslrootcert=system needs sslmode=verify-full, and it is ${mode}`);
  const encryptions = ENCRYPTIONS[mode];
  if (sslnegotiation === "direct" && ["disable", "allow", "prefer"].includes(mode))
    throw unusableUrl("sslnegotiation=direct needs sslmode=require, verify-ca or verify-full");
  if (mode === "disable") return encryptions({ ca: undefined, client: {} });
  const cert = textOfFile("sslcert", sslcert, "postgresql.crt");
  const key = textOfFile("sslkey", sslkey, "postgresql.key");
  if (cert !== undefined && key === undefined)
    throw unusableUrl("sslcert names a client certificate, and sslkey names no key for it");
  const ca = isSystem ? systemAuthorities(env) : textOfFile("sslrootcert", sslrootcert, "root.crt");
  if (ca !== undefined && !hasCertificate(ca))
    throw unusableUrl("the file of sslrootcert has no certificate in PEM");
  return encryptions({ ca, client: cert === undefined || key === undefined ? {} : { cert, key } });
}

/** Without a path, the file of libpq's folder, if there is one. */
function textOfFile(parameter: string, path: string | undefined, preset: string): string | undefined {
  const file = path ?? join(homedir(), ".postgresql", preset);
  if (path === undefined && !existsSync(file)) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw unusableUrl(`${parameter} ${file}: ${systemReason(error)}`, error);
  }
}

/** Where systems keep their authorities, besides OpenSSL's variable: Debian, Red Hat, Alpine and macOS. */
const SYSTEM_FILES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/cert.pem",
];

/** Undefined if none of these files exists: then the authorities that come with Node are used. */
function systemAuthorities(env: Environment): string | undefined {
  const file = [env["SSL_CERT_FILE"] || undefined, ...SYSTEM_FILES].find(
    (path) => path !== undefined && existsSync(path),
  );
  return file === undefined ? undefined : readFileSync(file, "utf8");
}
