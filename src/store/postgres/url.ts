/** The URL of a PostgreSQL database as libpq reads it (PostgreSQL's manual, 34.1.1.2): servers, login, database, parameters. */
import { decodedPart } from "../../values/url-passwords.ts";
import { accepted, nearest, refused, type Parsed } from "../../values/parse-result.ts";

/** A part that the URL leaves open is undefined: libpq's variables say it. */
export interface PostgresUrl {
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** In the order in which they are tried; empty if the URL names none. */
  readonly servers: readonly PostgresServer[];
  readonly parameters: PostgresParameters;
}

export interface PostgresServer {
  /** A name, an address without brackets, or the folder of a Unix socket; undefined for the default. */
  readonly host: string | undefined;
  readonly port: number | undefined;
}

export type PostgresParameter = keyof typeof PARAMETERS;
export type PostgresParameters = Readonly<Partial<Record<PostgresParameter, string>>>;

export const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** Those of a session that may only read are no use: a store is written. A standby can be read by naming it alone. */
const SESSION_ATTRIBUTES = ["any", "read-write", "primary"] as const;

export const CHANNEL_BINDINGS = ["disable", "prefer", "require"] as const;

const ANY = undefined;

/** The parameters that are understood, with their values where libpq has a list of them. */
const PARAMETERS = {
  host: ANY,
  port: ANY,
  dbname: ANY,
  user: ANY,
  password: ANY,
  options: ANY,
  application_name: ANY,
  connect_timeout: ANY,
  target_session_attrs: SESSION_ATTRIBUTES,
  sslmode: SSL_MODES,
  sslrootcert: ANY,
  sslcert: ANY,
  sslkey: ANY,
  sslnegotiation: ["postgres", "direct"],
  channel_binding: CHANNEL_BINDINGS,
} as const satisfies Readonly<Record<string, readonly string[] | undefined>>;

/** The driver takes these variables as libpq does, and the files of passwords too. */
const READ_BY_DRIVER: readonly string[] = [
  "dbname",
  "user",
  "password",
  "passfile",
  "options",
  "application_name",
];

/** What URLs have for other programs, or what makes no difference here; with the values for which that is so. */
const WITHOUT_EFFECT: Readonly<Record<string, readonly string[] | undefined>> = {
  client_encoding: ["utf8", "utf-8", "unicode", "auto"],
  gssencmode: ["disable", "prefer"],
  load_balance_hosts: ["disable", "random"],
  fallback_application_name: ANY,
  keepalives: ANY,
  keepalives_idle: ANY,
  keepalives_interval: ANY,
  keepalives_count: ANY,
  tcp_user_timeout: ANY,
  sslsni: ["1"],
  sslcompression: ANY,
  uselibpqcompat: ANY,
  ssl: ["true", "false"],
};

/** Those of libpq that would say what is checked, or where the server is. To ignore them would be to do something else. */
const UNSUPPORTED: readonly string[] = [
  "hostaddr",
  "passfile",
  "require_auth",
  "requirepeer",
  "requiressl",
  "krbsrvname",
  "gsslib",
  "gssdelegation",
  "service",
  "servicefile",
  "scram_client_key",
  "scram_server_key",
  "oauth_issuer",
  "oauth_client_id",
  "oauth_client_secret",
  "oauth_scope",
  "sslpassword",
  "sslcertmode",
  "sslkeylogfile",
  "sslcrl",
  "sslcrldir",
  "ssl_min_protocol_version",
  "ssl_max_protocol_version",
  "min_protocol_version",
  "max_protocol_version",
  "replication",
];

const URL_FORM = /^postgres(?:ql)?:\/\/(?:([^@/?#\s]*)@)?([^@/?#\s]*)(?:\/([^@?#\s]*))?(?:\?([^@#\s]*))?$/i;

/** A text that begins as such a URL. What is wrong with it is said without repeating it: it may have a password. */
export function parsePostgresUrl(text: string): Parsed<PostgresUrl> {
  const [whole, login = "", hosts = "", path = "", query = ""] = URL_FORM.exec(text) ?? [];
  if (whole === undefined) return refused(ESCAPE_PASSWORD);
  const parameters = parametersFrom(query);
  if (!parameters.ok) return parameters;
  const { host, port, dbname, user, password, ...others } = parameters.value;
  const servers =
    host === undefined && port === undefined ? serversIn(hosts) : serversOfParameters(hosts, host, port);
  if (!servers.ok) return servers;
  const [name, ...secret] = login.split(":");
  const texts = [name ?? "", secret.join(":"), path].map(decodedPart);
  const [ofUser, ofPassword, ofPath] = texts;
  if (ofUser === undefined || ofPassword === undefined || ofPath === undefined)
    return refused(ESCAPE_PASSWORD);
  return accepted({
    user: user ?? given(ofUser),
    password: password ?? given(ofPassword),
    database: dbname ?? given(ofPath),
    servers: servers.value,
    parameters: others,
  });
}

const ESCAPE_PASSWORD = "special characters in its password must be escaped (%40 for @, %2F for /)";

const given = (text: string): string | undefined => text || undefined;

/** For libpq, a `+` in them is no space. */
function parametersFrom(query: string): Parsed<PostgresParameters> {
  const found: Partial<Record<PostgresParameter, string>> = {};
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const [spelled = "", ...rest] = pair.split("=");
    const [name, value] = [decodedPart(spelled), decodedPart(rest.join("="))];
    if (name === undefined || value === undefined) return refused(ESCAPE_PASSWORD);
    const problem = parameterProblem(name, value);
    // What follows a password may be a part of it.
    if (problem !== undefined) return refused(found.password === undefined ? problem : ESCAPE_PASSWORD);
    // libpq takes the parameter of JDBC for its own.
    if (name === "ssl" && value === "true") found.sslmode ??= "require";
    if (isParameter(name) && value !== "") found[name] = value;
  }
  return accepted(found);
}

const isParameter = (name: string): name is PostgresParameter => Object.hasOwn(PARAMETERS, name);

/** libpq's variable for a parameter (PostgreSQL's manual, 34.15). */
const variableOf = (name: string): string =>
  `PG${name === "connect_timeout" ? name.toUpperCase() : name.toUpperCase().replaceAll("_", "")}`;

/** libpq's variables that the driver does not read, reads differently, or would ignore, by the parameters that they stand for. */
export const PARAMETER_VARIABLES: Readonly<Record<string, string>> = Object.fromEntries(
  [...Object.keys(PARAMETERS), "gssencmode", ...UNSUPPORTED]
    .filter((name) => !READ_BY_DRIVER.includes(name))
    .map((name) => [name, variableOf(name)]),
);

/** What is wrong with a parameter, also where one of libpq's variables gives it. */
export function parameterProblem(name: string, value: string): string | undefined {
  const known: Readonly<Record<string, readonly string[] | undefined>> = { ...PARAMETERS, ...WITHOUT_EFFECT };
  if (Object.hasOwn(known, name)) return value === "" ? undefined : valueProblem(name, value, known[name]);
  if (UNSUPPORTED.includes(name)) return `it has the parameter ${name}, which paylink does not support`;
  return `it has the unknown parameter ${name}${meant(nearest(name, Object.keys(PARAMETERS)))}`;
}

const meant = (near: string | undefined): string => (near === undefined ? "" : `; did you mean ${near}?`);

const valueProblem = (
  name: string,
  value: string,
  values: readonly string[] | undefined,
): string | undefined =>
  values === undefined || values.includes(value)
    ? undefined
    : `its ${name} is "${value}", but must be one of ${values.join(", ")}${meant(nearest(value, values))}`;

/** `host:port,[::1]:5433`: the servers before the path. */
function serversIn(text: string): Parsed<readonly PostgresServer[]> {
  if (text === "") return accepted([]);
  const servers: PostgresServer[] = [];
  for (const part of text.split(",")) {
    const [, address, name = "", port = ""] =
      /^(?:\[([\da-f:.]+)\]|([^:[\]]*))(?::(\d*))?$/i.exec(part) ?? [];
    if (address === undefined && name === "" && port === "" && part !== "") return refused(hostProblem(part));
    const host = address ?? decodedPart(name);
    if (host === undefined) return refused(ESCAPE_PASSWORD);
    const server = serverFrom(host, port);
    if (server === undefined) return refused(PORT_RULE);
    servers.push(server);
  }
  return accepted(servers);
}

const hostProblem = (part: string): string =>
  part.split(":").length > 2
    ? "an IPv6 address must be in brackets, such as postgres://[::1]:5432/paylink"
    : PORT_RULE;

const PORT_RULE = "its port must be a number from 1 to 65535";

function serverFrom(host: string, port: string): PostgresServer | undefined {
  const number = port === "" ? undefined : Number(port);
  if (number !== undefined && !(Number.isInteger(number) && number >= 1 && number <= 65_535))
    return undefined;
  return { host: given(host), port: number };
}

/** The parameters `host` and `port` stand in place of the URL's: a list each, where one port may be that of all hosts. */
function serversOfParameters(
  text: string,
  host: string | undefined,
  port: string | undefined,
): Parsed<readonly PostgresServer[]> {
  const before = serversIn(text);
  if (!before.ok) return before;
  const hosts = host?.split(",") ?? before.value.map((server) => server.host ?? "");
  const ports = port?.split(",") ?? before.value.map((server) => String(server.port ?? ""));
  if (hosts.length === 0) hosts.push("");
  if (ports.length > 1 && ports.length !== hosts.length)
    return refused(`it has ${hosts.length} hosts and ${ports.length} ports`);
  const servers: PostgresServer[] = [];
  for (const [index, one] of hosts.entries()) {
    const server = serverFrom(one, (ports.length > 1 ? ports[index] : ports[0]) ?? "");
    if (server === undefined) return refused(PORT_RULE);
    servers.push(server);
  }
  return accepted(servers);
}
