/** PgBouncer in front of a test file's PostgreSQL server: each transaction may run on another connection. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { hasPostgres } from "./postgres.ts";
import { ownPort } from "./own-port.mjs";
import { owner, type PostgresServer } from "./postgres-server.mjs";

const PROGRAM = ["/usr/sbin", ...(process.env["PATH"] ?? "").split(delimiter)]
  .map((folder) => join(folder, "pgbouncer"))
  .find((path) => existsSync(path));

interface PgBouncerOptions {
  /** Lines in place of those of the section [databases]; `%p` is the port of the server. */
  readonly databases?: string;
  /** Lines for the section [pgbouncer], in which the last one of a name counts. */
  readonly settings?: string;
  /** The users that may log in; without it, everybody may. */
  readonly users?: Readonly<Record<string, string>>;
}

/** The URL of a database of the server, through PgBouncer. */
export function usePgBouncer(
  server: () => Pick<PostgresServer, "port" | "give">,
  options: PgBouncerOptions = {},
): (database: string) => string {
  let program: ChildProcess | undefined;
  let port = 0;
  const folder = mkdtempSync(join(tmpdir(), "paylink-pgbouncer-"));
  beforeAll(async () => {
    if (PROGRAM === undefined || !hasPostgres) return;
    port = await ownPort();
    const configuration = join(folder, "pgbouncer.ini");
    writeFileSync(configuration, settings(port, server().port, folder, options));
    const users = Object.entries(options.users ?? {}).map(([user, password]) => `"${user}" "${password}"\n`);
    server().give(write(join(folder, "users.txt"), users.join("")));
    server().give(folder);
    program = spawn(PROGRAM, [configuration], { ...owner, stdio: "ignore" });
    while (!(await accepts(port))) {
      if (program.exitCode !== null) throw new Error(`PgBouncer ended with ${program.exitCode}`);
      await pause(20);
    }
  });
  beforeEach((test) => test.skip(PROGRAM === undefined, "PgBouncer is not installed"));
  afterAll(async () => {
    if (program !== undefined && program.exitCode === null) {
      const ended = once(program, "close");
      program.kill("SIGKILL");
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });
  return (database) => {
    const url = new URL(database);
    url.port = String(port);
    return url.href;
  };
}

function write(path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** With two connections, a session's statements do not stay on one of them. */
const settings = (
  port: number,
  serverPort: number,
  folder: string,
  { databases = "* = host=127.0.0.1 port=%p user=paylink", settings: more = "", users }: PgBouncerOptions,
): string => `
[databases]
${databases.replaceAll("%p", String(serverPort))}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = ${users === undefined ? "any" : "scram-sha-256"}
auth_file = ${join(folder, "users.txt")}
pool_mode = transaction
default_pool_size = 2
server_round_robin = 1
${more}
`;

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
