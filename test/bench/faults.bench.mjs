/**
 * listen --ack stored between a service and an application that both try its patience: the application fails, hangs, delays and
 * breaks connections at random, receivers are killed, and the database is restarted. Every acknowledged webhook must arrive,
 * and twice only if the receiver that forwarded it was killed.
 *
 * `npm run bench -- faults [seconds] [seed]`: the seed decides what the application does with each attempt, and the faults.
 */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { POSTGRES_BIN, startPostgresServer } from "../support/postgres-server.mjs";
import { showProgress } from "./progress.mjs";
import { createHome, startListen } from "./receivers.mjs";
import { row } from "./row.mjs";
import { load, newKey, payment, webhook } from "./webhooks.mjs";

const [seconds = "120", seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
const REFERENCES = 500;
const CONNECTIONS = 16;
/** The most webhooks that are acknowledged and have not arrived: the queue has to be empty soon after the last fault. */
const MOST_WAITING = 2_000;
const RETRY = ["--retry", "40x1s", "--forward-timeout", "3s"];
/** Milliseconds that everything may take to arrive once there are no more faults. */
const SETTLE = 180_000;
/** Milliseconds in which a repeat without a reason would arrive: claims have ended by then. */
const QUIET = 25_000;

const { privateKey, publicKey } = newKey();

/**
 * The same for each run with this seed.
 * @param {...(string | number)} about
 * @returns {number} At least 0, less than 1.
 */
const chance = (...about) =>
  createHash("sha256")
    .update([seed, ...about].join(" "))
    .digest()
    .readUInt32BE() /
  2 ** 32;

/**
 * @typedef {object} Sent
 * @property {string} reference
 * @property {number} number Its place among those of the reference.
 * @property {number} attempts That the application has seen.
 * @property {string[]} acceptedFrom The runs of receivers whose attempts it accepted.
 */

/** @typedef {"fail" | "hang" | "break" | "delay" | "accept"} Answer */

/** An application that remembers what it got. */
async function startApp() {
  /** By their utis. @type {Map<string, Sent>} */
  const sent = new Map();
  let arrived = 0;
  let isHealthy = false;
  let isDown = false;
  /** @returns {Answer} */
  const answerTo = (/** @type {Sent} */ { reference, number, attempts }) => {
    if (isHealthy) return "accept";
    if (isDown) return "fail";
    const drawn = chance("answer", reference, number, attempts);
    if (drawn < 0.08) return "fail";
    if (drawn < 0.11) return "hang";
    if (drawn < 0.14) return "break";
    return drawn < 0.4 ? "delay" : "accept";
  };
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on("error", () => undefined);
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const event = sent.get(JSON.parse(Buffer.concat(chunks).toString("utf8")).uti);
      if (event === undefined) throw new Error("an event that was never sent");
      event.attempts += 1;
      const accept = () => {
        // Its receiver was killed, or gave up, before this answer.
        if (response.destroyed || response.socket?.destroyed) return;
        if (event.acceptedFrom.length === 0) arrived += 1;
        event.acceptedFrom.push(String(request.headers["x-run"]));
        response.end();
      };
      const answer = answerTo(event);
      if (answer === "fail") response.writeHead(event.attempts % 3 === 0 ? 400 : 503).end();
      else if (answer === "break") request.socket.destroy();
      else if (answer === "delay") setTimeout(accept, 300 * chance("delay", event.reference, event.number));
      else if (answer === "accept") accept();
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(undefined)));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the application has no port");
  return {
    target: `http://127.0.0.1:${address.port}/`,
    sent,
    arrived: () => arrived,
    recover: () => (isHealthy = true),
    /** @param {number} milliseconds */
    failFor: async (milliseconds) => {
      isDown = true;
      await pause(milliseconds);
      isDown = false;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * @param {string} name
 * @param {number} count Of receivers.
 * @param {readonly string[]} store Flags that name it.
 * @param {(() => Promise<void>) | undefined} restart Of the database.
 */
async function measure(name, count, store, restart) {
  const app = await startApp();
  const places = Array.from({ length: count }, () => createHome(publicKey));
  const runs = places.map(() => 0);
  /** @type {Set<string>} */
  const killed = new Set();
  const start = (/** @type {number} */ index) =>
    startListen(
      places[index]?.home ?? "",
      "--forward-to",
      app.target,
      "--ack",
      "stored",
      "--forward-header",
      `X-Run: ${index}.${runs[index]}`,
      ...RETRY,
      ...store,
    );
  const receivers = await Promise.all(places.map((_, index) => start(index)));
  /** @type {Set<string>} */
  const acknowledged = new Set();
  const ends = performance.now() + Number(seconds) * 1000;
  const isOver = () => performance.now() >= ends;

  /** One lane delivers the webhooks of its references, each one again until it is acknowledged. */
  const deliver = async (/** @type {number} */ lane) => {
    const references = Array.from(
      { length: Math.ceil((REFERENCES - lane) / CONNECTIONS) },
      (_, index) => `FAULTS-${String(lane + index * CONNECTIONS).padStart(9, "0")}`,
    );
    let number = 0;
    const draw = () => {
      const reference = references[number % references.length] ?? "";
      const drawn = payment(reference);
      app.sent.set(drawn.uti, { reference, number: number++, attempts: 0, acceptedFrom: [] });
      return drawn;
    };
    let current = draw();
    for (let connection = 0; !isOver(); connection++) {
      while (acknowledged.size - app.arrived() > MOST_WAITING && !isOver()) await pause(200);
      const receiver = receivers[Math.floor(chance("receiver", lane, connection) * count)];
      if (receiver === undefined) throw new Error("no such receiver");
      let isRefused = false;
      let left = 20;
      await load(
        receiver.url,
        1,
        () =>
          isRefused || isOver() || left-- === 0 ? undefined : webhook(receiver.url, privateKey, current),
        (uti, status) => {
          if (status === 200) {
            acknowledged.add(uti);
            current = draw();
          } else isRefused = true;
        },
      );
      await pause(isRefused ? 200 : 20);
    }
  };

  let restarts = 0;
  const disturb = async () => {
    for (let fault = 0; !isOver(); fault++) {
      await pause(2_000 + 4_000 * chance("pause", fault));
      if (isOver()) return;
      const drawn = chance("fault", fault);
      if (drawn < 0.2) await app.failFor(3_000 * chance("down", fault));
      else if (drawn < 0.5 && restart !== undefined) {
        restarts += 1;
        await restart();
      } else {
        const index = Math.floor(chance("victim", fault) * count);
        await receivers[index]?.stop("SIGKILL");
        killed.add(`${index}.${runs[index]}`);
        await pause(2_000 * chance("away", fault));
        runs[index] = (runs[index] ?? 0) + 1;
        receivers[index] = await start(index);
      }
      showProgress(`${name}: ${acknowledged.size} acknowledged, ${killed.size} kills, ${restarts} restarts`);
    }
  };
  await Promise.all([disturb(), ...Array.from({ length: CONNECTIONS }, (_, lane) => deliver(lane))]);

  app.recover();
  const missing = () => [...acknowledged].filter((uti) => app.sent.get(uti)?.acceptedFrom.length === 0);
  const deadline = performance.now() + SETTLE;
  while (missing().length > 0 && performance.now() < deadline) await pause(200);
  await pause(QUIET);
  await Promise.all(receivers.map((receiver) => receiver.stop("SIGKILL")));
  app.close();
  for (const { remove } of places) remove();
  showProgress("");

  const repeated = [...app.sent.values()].filter(({ acceptedFrom }) => acceptedFrom.length > 1);
  const withoutReason = repeated.filter(
    ({ acceptedFrom }) =>
      new Set(acceptedFrom).size < acceptedFrom.length ||
      acceptedFrom.slice(0, -1).some((run) => !killed.has(run)),
  );
  for (const event of withoutReason)
    process.stdout.write(`repeated without a kill: ${JSON.stringify(event)}\n`);
  for (const uti of missing()) process.stdout.write(`lost: ${JSON.stringify(app.sent.get(uti))}\n`);
  const wrong = missing().length + withoutReason.length;
  process.stdout.write(
    `seed ${seed}: ${missing().length} lost, ${withoutReason.length} repeated without a kill\n`,
  );
  const what = `webhooks lost, or repeated without a kill, under faults: ${name}`;
  const faults = `${killed.size} kills${restart === undefined ? "" : `, ${restarts} restarts`}, ${repeated.length} repeated after a kill`;
  row(what, wrong, { most: 0, unit: "", digits: 0, note: `of ${acknowledged.size}; ${faults}` });
  if (wrong > 0 || acknowledged.size === 0 || killed.size === 0) process.exitCode = 1;
}

if (POSTGRES_BIN === undefined) process.stdout.write("skipped: no PostgreSQL server is installed\n");
else {
  const server = await startPostgresServer({ fsync: true });
  let restarts = 0;
  await measure("two receivers on PostgreSQL", 2, ["--db", await server.createDatabase()], async () => {
    await server.stop(chance("signal", restarts++) < 0.5 ? "SIGINT" : "SIGKILL");
    await pause(3_000 * chance("server", restarts));
    await server.start();
  });
  await server.remove();
}
await measure("one receiver on SQLite", 1, [], undefined);
