/** A real PostgreSQL server in a folder of its own, on a free port, run by a user without rights. */
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { ownPort } from "./own-port.mjs";

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

/**
 * @typedef {object} PostgresServer
 * @property {string} folder Also that of the Unix socket.
 * @property {() => Promise<boolean>} answers
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
 * Where a server runs: its folder, which is also that of the Unix socket, and its port.
 * @typedef {{ readonly folder: string, readonly port: number }} Place
 */

/** @returns {Promise<Place>} */
export async function newPlace() {
  const folder = mkdtempSync(join(tmpdir(), "paylink-pg-"));
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  return { folder, port: await ownPort() };
}

/**
 * @param {{ fsync?: boolean }} [options]
 * @returns {Promise<PostgresServer>}
 */
export async function startPostgresServer({ fsync = false } = {}) {
  const place = await newPlace();
  const server = serverAt(place);
  initialise(place, fsync);
  await server.start();
  return server;
}

/**
 * The server that several processes share: the first that asks starts it, and the others wait for it.
 * @param {Place} place
 */
export async function sharedServer(place) {
  const server = serverAt(place);
  let isFirst = true;
  try {
    mkdirSync(join(place.folder, "starting"));
  } catch {
    isFirst = false;
  }
  if (isFirst) {
    initialise(place, false);
    await server.start();
  }
  while (!(await server.answers())) await pause(50);
  return server;
}

/** Ends a server that another process may have started, and removes it. @param {Place} place */
export function removeServer({ folder }) {
  const pid = join(folder, "data", "postmaster.pid");
  try {
    process.kill(Number(readFileSync(pid, "utf8").split("\n")[0]), "SIGQUIT");
  } catch {
    // No test has started it, or it has ended.
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/**
 * @param {Place} place
 * @param {boolean} fsync
 */
function initialise({ folder, port }, fsync) {
  const data = join(folder, "data");
  execFileSync(
    join(POSTGRES_BIN ?? "", "initdb"),
    ["-D", data, "-U", "paylink", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync"],
    { ...owner, cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
  );
  appendFileSync(
    join(data, "postgresql.conf"),
    `\nport = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '${folder}'\nmax_connections = 300\nfsync = ${fsync ? "on" : "off"}\n`,
  );
}

/**
 * @param {Place} place
 * @returns {PostgresServer}
 */
function serverAt({ folder, port }) {
  const data = join(folder, "data");
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
  const answers = () =>
    query("SELECT").then(
      () => true,
      () => false,
    );
  const start = async () => {
    server = spawn(join(POSTGRES_BIN ?? "", "postgres"), ["-D", data], {
      ...owner,
      cwd: folder,
      stdio: ["ignore", "ignore", "ignore"],
    });
    for (;;) {
      if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}`);
      if (await answers()) return;
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
  return {
    folder,
    answers,
    port,
    url,
    query,
    suspend,
    start,
    stop,
    createDatabase: async () => {
      const name = `test_${randomUUID().replaceAll("-", "")}`;
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
