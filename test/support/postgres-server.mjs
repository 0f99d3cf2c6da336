/** A real PostgreSQL server in a folder of its own, on a free port, run by a user without rights. */
import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

/** Debian keeps the programs of each version in a folder of its own. */
const DEBIAN = "/usr/lib/postgresql";

/** The folder of `initdb` and `postgres`; undefined where no server is installed. */
export const POSTGRES_BIN = [
  ...(existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, "bin")) : []),
  ...(process.env["PATH"] ?? "").split(delimiter),
].findLast((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));

/** PostgreSQL refuses to run as root: then as nobody. */
const NOBODY = 65_534;
export const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** @returns {Promise<number>} */
export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === "object" ? address.port : 0));
    });
  });

/**
 * @typedef {object} PostgresServer
 * @property {string} folder Also that of the Unix socket.
 * @property {number} port
 * @property {(database: string) => string} url Of the superuser `paylink`, over TCP.
 * @property {(sql: string, database?: string) => Promise<Record<string, any>[]>} query
 * @property {() => Promise<string>} createDatabase Resolves with the URL of a new database.
 * @property {(settings: string, logins?: string) => Promise<void>} configure Adds lines to postgresql.conf, puts others
 * before those of pg_hba.conf, and restarts the server.
 * @property {(path: string) => string} give Makes the server's user the owner of a file, and returns its path.
 * @property {(signal: NodeJS.Signals) => Promise<void>} stop Resolves when the server has ended.
 * @property {() => Promise<() => void>} suspend Stops all of its processes; the result lets them go on.
 * @property {() => Promise<void>} start
 * @property {() => Promise<void>} remove
 */

/**
 * @param {{ fsync?: boolean }} [options]
 * @returns {Promise<PostgresServer>}
 */
export async function startPostgresServer({ fsync = false } = {}) {
  if (POSTGRES_BIN === undefined) throw new Error("no PostgreSQL server is installed");
  const bin = POSTGRES_BIN;
  const folder = mkdtempSync(join(tmpdir(), "paylink-pg-"));
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  const port = await freePort();
  execFileSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "paylink", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync"],
    { ...owner, cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
  );
  appendFileSync(
    join(data, "postgresql.conf"),
    `\nport = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '${folder}'\nfsync = ${fsync ? "on" : "off"}\n`,
  );
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let server;
  /** @param {string} database */
  const url = (database) => `postgres://paylink@127.0.0.1:${port}/${database}`;
  /** @param {string} sql */
  const query = async (sql, database = "postgres") => {
    // The socket takes every login, whatever a test does with the others.
    const client = new pg.Client({ host: folder, port, user: "paylink", database });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const start = async () => {
    server = spawn(join(bin, "postgres"), ["-D", data], {
      ...owner,
      cwd: folder,
      stdio: ["ignore", "ignore", "ignore"],
    });
    for (;;) {
      if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}`);
      if (
        await query("SELECT").then(
          () => true,
          () => false,
        )
      )
        return;
      await pause(20);
    }
  };
  const suspend = async () => {
    const sessions = await query("SELECT pid FROM pg_stat_activity");
    const pids = [...sessions.map(({ pid }) => Number(pid)), server?.pid ?? 0];
    // The session of this question has ended by now.
    /** @type {(signal: NodeJS.Signals) => void} */
    const send = (signal) => {
      for (const pid of pids) {
        try {
          process.kill(pid, signal);
        } catch {
          // It has ended.
        }
      }
    };
    send("SIGSTOP");
    return () => send("SIGCONT");
  };
  /** @param {NodeJS.Signals} name */
  const stop = async (name) => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server?.once("close", resolve));
    server.kill(name);
    await ended;
  };
  let databases = 0;
  await start();
  return {
    folder,
    port,
    url,
    query,
    suspend,
    start,
    stop,
    createDatabase: async () => {
      const name = `test_${++databases}`;
      await query(`CREATE DATABASE ${name}`);
      return url(name);
    },
    configure: async (settings, logins = "") => {
      appendFileSync(join(data, "postgresql.conf"), `${settings}\n`);
      const hba = join(data, "pg_hba.conf");
      writeFileSync(hba, `${logins}\n${readFileSync(hba, "utf8")}`);
      await stop("SIGINT");
      await start();
    },
    give: (path) => {
      if (owner.uid !== undefined) chownSync(path, owner.uid, owner.gid);
      return path;
    },
    remove: async () => {
      await stop("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
