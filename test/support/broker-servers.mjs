/** Real servers of NATS and RabbitMQ, each in a folder of its own, on a free port, run by a user without rights. */
import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect as connectNats } from "@nats-io/transport-node";
import { connect as connectAmqp } from "amqplib";
import { ownPort } from "./own-port.mjs";
import { owner } from "./postgres-server.mjs";

/**
 * @param {string} program
 * @param {readonly string[]} folders Besides those of PATH.
 */
const found = (program, ...folders) =>
  [...folders, ...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));

/** The programs; undefined where they are not installed. */
export const NATS_SERVER = found("nats-server");
/** Debian's program in PATH refuses every user but two. */
export const RABBITMQ_SERVER = found("rabbitmq-server", "/usr/lib/rabbitmq/bin");

/**
 * @typedef {object} BrokerServer
 * @property {number} port
 * @property {string} folder
 * @property {(config?: string) => Promise<void>} start
 * @property {() => Promise<void>} kill With SIGKILL.
 * @property {(name: string, text: string | Uint8Array) => string} write Writes a file that the server can read.
 * @property {() => Promise<void>} remove
 */

/**
 * @param {string} name
 * @param {(config: string, write: BrokerServer["write"], port: number, folder: string) => { program: string, args: readonly string[], env?: Readonly<Record<string, string>> }} command
 * @param {() => void} [clean]
 * @returns {Promise<BrokerServer>}
 */
async function startServer(name, command, config = "", clean = () => undefined) {
  const folder = mkdtempSync(join(tmpdir(), `paylink-${name}-`));
  const port = await ownPort();
  const give = (/** @type {string} */ path) => {
    if (owner.uid !== undefined) chownSync(path, owner.uid, owner.gid);
    return path;
  };
  give(folder);
  /** @type {BrokerServer["write"]} */
  const write = (file, text) => {
    const path = join(folder, file);
    writeFileSync(path, text, { mode: 0o600 });
    return give(path);
  };
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let server;
  const kill = async () => {
    const running = server;
    if (running?.pid === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((resolve) => running.once("close", resolve));
    // The whole group: a script starts the server.
    process.kill(-running.pid, "SIGKILL");
    await ended;
  };
  let current = config;
  const start = async (changed = current) => {
    current = changed;
    const { program, args, env } = command(current, write, port, folder);
    server = spawn(program, args, {
      ...owner,
      cwd: folder,
      detached: true,
      stdio: "ignore",
      env: { ...process.env, HOME: folder, ...env },
    });
    while (!(await accepts(port))) {
      if (server.exitCode !== null) throw new Error(`${name} ended with ${server.exitCode}`);
      await pause(20);
    }
  };
  await start();
  return {
    port,
    folder,
    start,
    kill,
    write,
    remove: async () => {
      await kill();
      clean();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
const accepts = (port) =>
  new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

/** @param {string} [config] Lines for the configuration of the server. */
export async function startNats(config) {
  const program = NATS_SERVER;
  if (program === undefined) throw new Error("nats-server is not installed");
  const server = await startServer(
    "nats",
    (text, write, port, folder) => ({
      program,
      args: [
        "-c",
        write("nats.conf", `jetstream { store_dir: "${folder}/data" }\n${text}\n`),
        "-a",
        "127.0.0.1",
        "-p",
        `${port}`,
      ],
    }),
    config,
  );
  /**
   * @template T
   * @param {(connection: import("@nats-io/transport-node").NatsConnection) => Promise<T>} use
   * @param {import("@nats-io/transport-node").NodeConnectionOptions} [login]
   * @returns {Promise<T>}
   */
  const connected = async (use, login = {}) => {
    const servers = `127.0.0.1:${server.port}`;
    const connection = await connectNats({ servers, reconnect: false, ...login });
    try {
      return await use(connection);
    } finally {
      await connection.close();
    }
  };
  /**
   * Asks the API of JetStream, on a connection.
   * @param {import("@nats-io/transport-node").NatsConnection} connection
   * @param {string} what
   * @param {object} [body]
   * @returns {Promise<any>}
   */
  const ask = async (connection, what, body) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    return (await connection.request(`$JS.API.${what}`, text, { timeout: 5_000 })).json();
  };
  return {
    ...server,
    /**
     * A stream of the subject with its own name.
     * @param {string} stream
     * @param {object} [limits]
     * @param {import("@nats-io/transport-node").NodeConnectionOptions} [login]
     */
    createStream: (stream, limits = {}, login) =>
      connected(
        (connection) =>
          ask(connection, `STREAM.CREATE.${stream}`, { name: stream, subjects: [stream], ...limits }),
        login,
      ),
    /** @param {string} stream */
    deleteStream: (stream) => connected((connection) => ask(connection, `STREAM.DELETE.${stream}`)),
    /**
     * The messages of a stream, which keeps them.
     * @param {string} stream
     * @returns {Promise<{ headers: string, body: Buffer }[]>}
     */
    messages: (stream) =>
      connected(async (connection) => {
        const { state } = await ask(connection, `STREAM.INFO.${stream}`);
        const messages = [];
        for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
          const { message } = await ask(connection, `STREAM.MSG.GET.${stream}`, { seq });
          if (message === undefined) continue;
          const headers = Buffer.from(message.hdrs, "base64").toString("utf8");
          messages.push({ headers, body: Buffer.from(message.data, "base64") });
        }
        return messages;
      }),
  };
}

/** @param {string} [config] Lines for rabbitmq.conf. */
export async function startRabbitMq(config) {
  const program = RABBITMQ_SERVER;
  if (program === undefined) throw new Error("rabbitmq-server is not installed");
  const [epmd, dist] = [await ownPort(), await ownPort()];
  const server = await startServer(
    "rabbitmq",
    (text, write, port, folder) => {
      for (const name of ["mnesia", "log"]) {
        mkdirSync(join(folder, name), { recursive: true });
        if (owner.uid !== undefined) chownSync(join(folder, name), owner.uid, owner.gid);
      }
      write("rabbitmq.conf", `listeners.tcp.1 = 127.0.0.1:${port}\nlog.console = false\n${text}\n`);
      return {
        program,
        args: [],
        env: {
          RABBITMQ_NODENAME: `paylink${port}@localhost`,
          RABBITMQ_CONFIG_FILE: join(folder, "rabbitmq.conf"),
          RABBITMQ_MNESIA_BASE: join(folder, "mnesia"),
          RABBITMQ_LOG_BASE: join(folder, "log"),
          RABBITMQ_ENABLED_PLUGINS_FILE: write("plugins", "[]."),
          RABBITMQ_DIST_PORT: `${dist}`,
          ERL_EPMD_PORT: `${epmd}`,
          ERL_EPMD_ADDRESS: "127.0.0.1",
          // Lets it be ended before it has seen that the node died.
          ERL_EPMD_RELAXED_COMMAND_CHECK: "true",
          RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+S 1:1 +sbwt none",
        },
      };
    },
    config,
    () => {
      // The daemon that Erlang starts for itself, at a port of its own.
      execFileSync("epmd", ["-port", `${epmd}`, "-kill"], { stdio: "ignore" });
    },
  );
  /**
   * @template T
   * @param {(channel: import("amqplib").Channel) => Promise<T>} use
   * @returns {Promise<T>}
   */
  const onChannel = async (use) => {
    for (;;) {
      const connection = await connectAmqp(`amqp://127.0.0.1:${server.port}`).catch(() => undefined);
      if (connection === undefined) {
        await pause(100);
        continue;
      }
      connection.on("error", () => undefined);
      try {
        return await use(await connection.createChannel());
      } finally {
        await connection.close();
      }
    }
  };
  await onChannel(async () => undefined);
  return {
    ...server,
    onChannel,
    /**
     * A durable queue, bound to a durable exchange of the same name with the same key.
     * @param {string} name
     * @param {import("amqplib").Options.AssertQueue} [options]
     */
    createQueue: (name, options = {}) =>
      onChannel(async (channel) => {
        await channel.assertExchange(name, "direct", { durable: true });
        await channel.assertQueue(name, { durable: true, ...options });
        await channel.bindQueue(name, name, name);
      }),
    /**
     * Takes the messages of a queue.
     * @param {string} queue
     */
    messages: (queue) =>
      onChannel(async (channel) => {
        const messages = [];
        for (;;) {
          const message = await channel.get(queue, { noAck: true });
          if (message === false) return messages;
          messages.push(message);
        }
      }),
    /** @param {string} [config] */
    start: async (config) => {
      await server.start(config);
      await onChannel(async () => undefined);
    },
  };
}
