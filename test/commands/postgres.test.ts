/** Commands on an event store in PostgreSQL: flags and settings, messages, and how the connection is made. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openPostgres } from "../support/event-stores.ts";
import { startListenCommand } from "../support/background-command.ts";
import { privatelyIssued } from "../support/certificate.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { hasPostgres, useOwnPostgres } from "../support/postgres.ts";
import { keyFile } from "../support/keys.ts";
import { event } from "../support/stored-events.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const server = useOwnPostgres();

interface Failed {
  readonly exit: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** Runs `events list` on a database, and gives its error as people see it. */
async function failureOf(url: string, env: Readonly<Record<string, string>> = {}): Promise<Failed> {
  const all = { PAYLINK_DB: url, ...env };
  const [run, shown] = [
    await runCommand(["events", "list", "--json"], { env: all }),
    await runCommand(["events", "list"], { env: all }),
  ];
  const { error } = JSON.parse(run.stderr) as { error: { code: string; message: string } };
  return { exit: run.exit, code: error.code, message: error.message, hint: shown.stderr };
}

/** What `events list` meets: an empty database that it can use, or what it fails with. */
async function meets(url: string, env: Readonly<Record<string, string>> = {}): Promise<number | "empty"> {
  const { exit, stderr } = await runCommand(["events", "list"], { env: { PAYLINK_DB: url, ...env } });
  return stderr.includes("There is no event store at") ? "empty" : exit;
}

describe("listen, events and verify on PostgreSQL", () => {
  it("work on the same store, which status names", async () => {
    const url = await server().createDatabase();
    const home = temporaryHome();
    const key = keyFile(home);
    const listen = await startListenCommand(home, "--key", key, "--db", url);
    const one = record({ reference: "INV-7" });
    expect(await post(listen.url, webhook(listen.url, one))).toBe(200);
    expect(await post(listen.url, webhook(listen.url, one))).toBe(200);
    const run = (...argv: string[]) => runCommand(argv, { home: temporaryHome(), env: { PAYLINK_DB: url } });
    const list = await run("events", "list", "--reference", "INV-7", "--json");
    expect(jsonLines(list.stdout)).toMatchObject([
      { uti: one["uti"], repeats: 1, verdict: { verdict: "valid" } },
    ]);
    const verified = await run("verify", "--event", String(one["uti"]), "--key", key, "--json");
    expect(verified.exit).toBe(0);
    const [line] = jsonLines((await run("events", "list", "--all", "--json")).stdout);
    await listen.stop();
    expect(jsonLines(listen.stdout())[1]).toMatchObject({ id: line?.["id"], verdict: line?.["verdict"] });
    const status = await runCommand(["status", "--json"], {
      env: { PAYLINK_DB: url, PAYLINK_BASE_URL: "http://127.0.0.1:1" },
    });
    expect(JSON.parse(status.stdout).checks).toContainEqual(
      expect.objectContaining({ check: "event store", state: "ok", detail: `can be written: ${url}` }),
    );
  });

  it.each(["events list", "inspect --no-open --port 0", "verify --event x"])(
    "%s creates no store in an empty database",
    async (typed) => {
      const url = await server().createDatabase();
      const key = keyFile(temporaryHome());
      const { exit, stderr } = await runCommand([...typed.split(" "), "--db", url], {
        env: { PAYLINK_WEBHOOK_KEY: key },
      });
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: expect.stringContaining(`There is no event store at ${url}.`),
      });
      expect(stderr).toContain(`paylink listen --db ${url}`);
      const made = "SELECT FROM pg_namespace WHERE nspname = 'paylink'";
      expect(await server().query(made, new URL(url).pathname.slice(1))).toEqual([]);
    },
  );

  it.each(["me:s3cr/et@db/x", "me:s3cr et@db:port/x", "me:s3cr%zzet@db/x", "me:s3cr@et@db:99999/x"])(
    "refuse a URL that cannot be read, and do not repeat its password: %s",
    async (rest) => {
      for (const [argv, env] of [
        [["events", "list", "--db", `postgres://${rest}`], {}],
        [["events", "list"], { PAYLINK_DB: `postgres://${rest}` }],
      ] as const) {
        const run = await runCommand([...argv], { env });
        expect(run).toMatchObject({ exit: 2, stderr: expect.stringContaining("must be a file, or a URL") });
        expect(run.stderr + run.stdout).not.toContain("s3cr");
      }
    },
  );

  it.each([["listen"], ["events", "list"], ["events", "show", "x"], ["verify", "--event", "x"]])(
    "%s refuses a password in a flag, and does not repeat it",
    async (...argv) => {
      for (const url of ["postgres://me:s3cret@db/x", "postgres://me@db/x?password=s3cret"]) {
        const run = await runCommand([...argv, "--db", url], { env: { PAYLINK_WEBHOOK_KEY: "k.pem" } });
        expect(run.exit).toBe(2);
        expect(run.stderr).toContain("must not have a password: use PAYLINK_DB, PGPASSWORD or .pgpass");
        expect(run.stderr + run.stdout).not.toContain("s3cret");
      }
    },
  );
});

describe("the messages", () => {
  beforeAll(async () => {
    if (!hasPostgres) return;
    await server().configure("", "host all secured 127.0.0.1/32 scram-sha-256");
    await server().query("CREATE ROLE secured LOGIN PASSWORD 'right:1'; CREATE ROLE visitor LOGIN");
  });

  it("names the server that refuses the connection", async () => {
    const found = await failureOf("postgres://me@127.0.0.1:1/shop");
    expect(found).toMatchObject({
      exit: 5,
      code: "database_unreachable",
      message: "The event store postgres://me@127.0.0.1:1/shop refused the connection.",
      hint: expect.stringContaining("Check that the server is running"),
    });
  });

  it("names the host that is unknown", async () => {
    const found = await failureOf("postgres://me@nowhere.invalid/shop");
    expect(found).toMatchObject({ exit: 5, code: "database_unreachable" });
    expect(found.message).toContain("cannot be found: the host nowhere.invalid is unknown");
  });

  it("names the user whose password is wrong or missing, and never the password", async () => {
    const url = await server().createDatabase();
    const as = (login: string): string => url.replace("paylink@", `${login}@`);
    await server().query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO secured`);
    const wrong = await failureOf(as("secured:wr0ng"));
    expect(wrong).toMatchObject({ exit: 2, code: "database_unusable" });
    expect(wrong.message).toContain("refused the password of secured");
    expect(wrong.message + wrong.hint).not.toContain("wr0ng");
    expect((await failureOf(as("secured"))).message).toContain("asks for a password, and none is configured");
  });

  it("names the database that does not exist, and the permission that is missing", async () => {
    const missing = await failureOf(server().url("nowhere"));
    expect(missing.message).toContain('has no database "nowhere"');
    expect(missing.hint).toContain("createdb -O paylink nowhere");
    const url = await server().createDatabase();
    const visitor = url.replace("paylink@", "visitor@");
    const refusal = await openPostgres(visitor)
      .ready()
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ message: expect.stringContaining("permission denied for database") });
    const [, statement = ""] = /(CREATE SCHEMA .*);/.exec(JSON.stringify(refusal)) ?? [];
    await server().query(statement.replaceAll("\\", ""), new URL(url).pathname.slice(1));
    await openPostgres(visitor).ready();
  });

  it("names the rights that another user's tables need, of which reading needs one", async () => {
    const url = await server().createDatabase();
    const database = new URL(url).pathname.slice(1);
    await openPostgres(url).append(event("a"));
    const visitor = url.replace("paylink@", "visitor@");
    const refused = await failureOf(visitor);
    expect(refused).toMatchObject({ exit: 2, message: expect.stringContaining("permission denied") });
    expect(refused.hint).toContain('GRANT USAGE ON SCHEMA paylink TO "visitor"');
    expect(refused.hint).not.toMatch(/\b503\b/);
    await server().query("GRANT USAGE ON SCHEMA paylink TO visitor", database);
    await server().query("GRANT SELECT ON ALL TABLES IN SCHEMA paylink TO visitor", database);
    const listed = await runCommand(["events", "list", "--quiet", "--db", visitor]);
    expect(listed).toMatchObject({ exit: 0, stderr: "" });
    await expect(openPostgres(visitor).append(event("b"))).rejects.toThrow("permission denied for table");
  });

  it("refuses a server that is too old, and says which version it needs", async () => {
    const url = await server().createDatabase();
    const database = new URL(url).pathname.slice(1);
    // The server says that it is older: its own function comes second on the path.
    await server().query(
      `CREATE SCHEMA older;
       CREATE FUNCTION older.current_setting(name text) RETURNS text LANGUAGE sql AS
         $$ SELECT CASE name WHEN 'server_version_num' THEN '120022' WHEN 'server_version' THEN '12.22' ELSE 'UTF8' END $$;
       ALTER DATABASE ${database} SET search_path = older, pg_catalog`,
      database,
    );
    const { exit, code, message, hint } = await failureOf(url);
    expect({ exit, code }).toEqual({ exit: 2, code: "database_unusable" });
    expect(message).toContain("is PostgreSQL 12.22, and paylink needs 13 or later.");
    expect(hint).toContain("Use a newer server");
    expect(await server().query("SELECT FROM pg_namespace WHERE nspname = 'paylink'", database)).toEqual([]);
  });

  it("refuses tables of a newer version, and a database of another encoding", async () => {
    const url = await server().createDatabase();
    await openPostgres(url).ready();
    await server().query(
      "UPDATE paylink.facts SET value = '99' WHERE name = 'schema'",
      new URL(url).pathname.slice(1),
    );
    expect((await failureOf(url)).message).toContain("it has schema 99, and this version knows 1");
    await server().query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    expect((await failureOf(server().url("latin"))).message).toContain("has the encoding LATIN1");
  });
});

describe("libpq's variables and password file", () => {
  afterEach(() => void vi.unstubAllEnvs());
  it("say what the URL leaves open", async () => {
    const { hostname, port, pathname } = new URL(await server().createDatabase());
    vi.stubEnv("PGHOST", hostname);
    vi.stubEnv("PGPORT", port);
    vi.stubEnv("PGUSER", "paylink");
    vi.stubEnv("PGDATABASE", pathname.slice(1));
    expect(await meets("postgres://")).toBe("empty");
  });

  it("have the password", async () => {
    const url = await server().createDatabase();
    const { port, pathname } = new URL(url);
    await server().query(`ALTER DATABASE ${pathname.slice(1)} OWNER TO secured`);
    const secured = url.replace("paylink@", "secured@");
    expect(await meets(secured, { PGPASSWORD: "right:1" })).toBe("empty");
    const file = join(temporaryHome(), "pgpass");
    writeFileSync(file, `other:*:*:*:wrong\n127.0.0.1:${port}:*:secured:right\\:1\n`, { mode: 0o600 });
    vi.stubEnv("PGPASSFILE", file);
    expect(await meets(secured)).toBe("empty");
  });

  it("reach a server on a Unix socket", async () => {
    const { folder, port } = server();
    const socket = encodeURIComponent(folder);
    expect(await meets(`postgres://paylink@${socket}:${port}/postgres`)).toBe("empty");
    expect(await meets(`postgres://paylink@/postgres?host=${folder}&port=${port}`)).toBe("empty");
    expect(await meets(`postgres:///postgres?user=paylink&host=${socket}&port=${port}&sslmode=require`)).toBe(
      "empty",
    );
    const nowhere = await failureOf(`postgres://paylink@/postgres?host=/nowhere`);
    expect(nowhere.message).toContain("there is no socket in /nowhere");
  });

  it("set options of the session", async () => {
    const options = encodeURIComponent("-c search_path= -c bytea_output=escape");
    const url = `${await server().createDatabase()}?options=${options}`;
    const store = openPostgres(url);
    await store.append(event("a"));
    expect(await store.count({}, 2)).toBe(1);
  });
});

describe("several servers in one URL", () => {
  const standby = useOwnPostgres();
  const urlOf = (hosts: string, attributes: string): string =>
    `postgres://paylink@${hosts}/postgres?target_session_attrs=${attributes}`;

  it("are tried in their order, and all that fail are named", async () => {
    const hosts = `127.0.0.1:1,127.0.0.1:${server().port}`;
    expect(await meets(`postgres://paylink@${hosts}/postgres`)).toBe("empty");
    const failed = await failureOf("postgres://paylink@127.0.0.1:1,[::1]:2/postgres");
    expect(failed).toMatchObject({ exit: 5, code: "database_unreachable" });
    expect(failed.message).toMatch(
      /postgres:\/\/paylink@127\.0\.0\.1:1,\[::1\]:2\/postgres cannot be used: 127\.0\.0\.1:1 refused the connection; \[::1\]:2 /,
    );
  });

  it("are searched for one that accepts writes, also after a failover and back", async () => {
    const readOnly = (from: typeof server, value: string) =>
      from()
        .query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
        .then(() => from().query("SELECT pg_reload_conf()"));
    await readOnly(standby, "on");
    await expect
      .poll(() => standby().query("SHOW default_transaction_read_only"))
      .toEqual([{ default_transaction_read_only: "on" }]);
    const hosts = `127.0.0.1:${standby().port},127.0.0.1:${server().port}`;
    expect((await failureOf(urlOf(`127.0.0.1:${standby().port}`, "read-write"))).message).toContain(
      "it is read-only, and target_session_attrs is read-write",
    );
    const store = openPostgres(urlOf(hosts, "read-write"));
    await store.append(event("first"));
    expect(await server().query("SELECT id FROM paylink.events")).toEqual([{ id: "first" }]);
    expect((await runCommand(["events", "list", "--db", urlOf(hosts, "standby")])).stderr).toContain(
      'its target_session_attrs is "standby", but must be one of any, read-write, primary',
    );
    await server().query("DROP SCHEMA paylink CASCADE");
    await readOnly(standby, "off");
  });
});

describe("TLS", () => {
  let ca = "";
  const meetsWith = (sslmode: string, host = "127.0.0.1") =>
    meets(`${server().url("postgres").replace("127.0.0.1", host)}?sslmode=${sslmode}`);
  beforeAll(async () => {
    if (!hasPostgres) return;
    await server().query("CREATE ROLE bound LOGIN PASSWORD 's3cret'");
    const files = privatelyIssued(server().folder, ["localhost"]);
    ca = files.ca;
    const [cert, key] = [files.cert, files.key].map(server().give);
    await server().configure(`ssl = on\nssl_cert_file = '${cert}'\nssl_key_file = '${key}'`);
  });

  it.each([
    ["disable", "empty"],
    ["require", "empty"],
    ["verify-ca", 2],
    ["verify-full", 2],
  ])("with a certificate of a private authority, sslmode=%s meets %s", async (mode, found) => {
    expect(await meetsWith(mode)).toBe(found);
  });

  it("verifies the authority, and with verify-full the name", async () => {
    expect(await meetsWith(`verify-ca&sslrootcert=${ca}`)).toBe("empty");
    expect(await meetsWith(`verify-full&sslrootcert=${ca}`)).toBe(2);
    expect(await meetsWith(`verify-full&sslrootcert=${ca}`, "localhost")).toBe("empty");
    const other = privatelyIssued(temporaryHome(), ["localhost"]).ca;
    expect(await meetsWith(`require&sslrootcert=${other}`)).toBe(2);
  });

  it("is used if the server requires it", async () => {
    await server().configure("", "hostnossl all all 127.0.0.1/32 reject");
    const none = await failureOf(`${server().url("postgres")}?sslmode=disable`);
    expect(none).toMatchObject({ exit: 2, hint: expect.stringContaining("sslmode=require") });
    expect(await meets(server().url("postgres"), { PGSSLMODE: "require" })).toBe("empty");
    for (const mode of ["allow", "prefer"]) expect(await meetsWith(mode)).toBe("empty");
    // As libpq, which prefers TLS.
    expect(await meets(server().url("postgres"))).toBe("empty");
  });

  it("is not used with allow and prefer if the server has none", async () => {
    await server().configure(
      "",
      "hostssl all all 127.0.0.1/32 reject\nhost all secured 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust",
    );
    for (const mode of ["allow", "prefer", "disable"]) expect(await meetsWith(mode)).toBe("empty");
    expect(await meetsWith("require")).toBe(2);
    const wrong = await failureOf(server().url("postgres").replace("paylink@", "secured:wr0ng@"));
    expect(wrong.message).toContain("refused the password of secured");
  });

  it.each([
    [
      "require",
      "sslmode",
      { PGSSLMODE: "requre" },
      /sslmode is "requre".*did you mean require\? \(PGSSLMODE\)/,
    ],
    ["of a file that is missing", "sslrootcert=/nowhere.pem", {}, /sslrootcert \/nowhere\.pem: no such file/],
    [
      "of the system",
      "sslrootcert=system&sslmode=require",
      {},
      /sslrootcert=system needs sslmode=verify-full/,
    ],
    ["direct", "sslnegotiation=direct", {}, /sslnegotiation=direct needs sslmode=require/],
  ])("%s is refused with an explanation where it makes no sense: %s", async (_, parameters, env, words) => {
    const query = parameters.includes("=") ? `?${parameters}` : "";
    const failed = await failureOf(`${server().url("postgres")}${query}`, env);
    expect(failed).toMatchObject({ exit: 2, message: expect.stringMatching(words) });
  });

  it.each(["require", "prefer"])(
    "binds the login to its connection with channel_binding=%s",
    async (mode) => {
      await server().configure("", "hostssl all bound 127.0.0.1/32 scram-sha-256");
      const url = server().url("postgres").replace("paylink@", "bound:s3cret@");
      expect(await meets(`${url}?sslmode=require&channel_binding=${mode}`)).toBe("empty");
    },
  );

  it.each([
    ["for no login", "hostssl all bound 127.0.0.1/32 trust", "sslmode=require", /asks for no login/],
    [
      "for the password as it is",
      "hostssl all bound 127.0.0.1/32 password",
      "sslmode=require",
      /a login without/,
    ],
    [
      "for a password without TLS",
      "host all bound 127.0.0.1/32 scram-sha-256",
      "sslmode=disable",
      /not offer/,
    ],
  ])(
    "refuses a server with channel_binding=require that asks %s, and sends it no password",
    async (_, login, sslmode, words) => {
      await server().configure("", login);
      const url = server().url("postgres").replace("paylink@", "bound:s3cret@");
      expect(await meets(`${url}?${sslmode}`)).toBe("empty");
      for (const [query, env] of [
        [`?${sslmode}&channel_binding=require`, {}],
        [`?${sslmode}`, { PGCHANNELBINDING: "require" }],
      ] as const) {
        const failed = await failureOf(url + query, env);
        expect(failed).toMatchObject({ exit: 2, code: "database_unusable" });
        expect(failed.message).toMatch(words);
        expect(failed.message).toContain("cannot be used with channel_binding=require");
        expect(failed.hint).toContain("It needs TLS");
      }
    },
  );

  it.each([
    ["PGHOSTADDR", "hostaddr"],
    ["PGSERVICE", "service"],
    ["PGREQUIREAUTH", "require_auth"],
    ["PGREQUIREPEER", "requirepeer"],
    ["PGREQUIRESSL", "requiressl"],
    ["PGSSLCERTMODE", "sslcertmode"],
    ["PGSSLCRL", "sslcrl"],
    ["PGSSLCRLDIR", "sslcrldir"],
    ["PGSSLMINPROTOCOLVERSION", "ssl_min_protocol_version"],
    ["PGSSLMAXPROTOCOLVERSION", "ssl_max_protocol_version"],
  ])("%s is refused by its name, and not ignored", async (variable, parameter) => {
    const failed = await failureOf(server().url("postgres"), { [variable]: "1" });
    expect(failed).toMatchObject({ exit: 2 });
    expect(failed.message).toContain(
      `the parameter ${parameter}, which paylink does not support (${variable})`,
    );
  });

  it("is refused if the files would check nothing", async () => {
    const folder = temporaryHome();
    const [empty, cert] = [join(folder, "empty.pem"), join(folder, "own.pem")];
    writeFileSync(empty, "");
    writeFileSync(cert, "-----BEGIN CERTIFICATE-----");
    for (const mode of ["require", "verify-ca", "verify-full"]) {
      const failed = await failureOf(`${server().url("postgres")}?sslmode=${mode}&sslrootcert=${empty}`);
      expect(failed).toMatchObject({
        exit: 2,
        message: expect.stringContaining("has no certificate in PEM"),
      });
    }
    const keyless = await failureOf(`${server().url("postgres")}?sslmode=require&sslcert=${cert}`);
    expect(keyless).toMatchObject({
      exit: 2,
      message: expect.stringContaining("sslkey names no key for it"),
    });
  });

  it.each(["requre", "Require", ""])("channel_binding=%j is refused unless libpq knows it", async (value) => {
    const failed = await failureOf(`${server().url("postgres")}?channel_binding=${value}`);
    expect(failed.hint).toContain(
      value === "" ? "There is no event store" : "must be one of disable, prefer, require",
    );
  });

  it("accepts the CAs of the system", async () => {
    await server().configure("", "host all all 127.0.0.1/32 trust");
    const system = `${server().url("postgres").replace("127.0.0.1", "localhost")}?sslrootcert=system`;
    expect(await meets(system)).toBe(2);
    expect(await meets(system, { SSL_CERT_FILE: ca })).toBe("empty");
  });
});
