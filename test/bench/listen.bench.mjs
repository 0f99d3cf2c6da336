/**
 * `listen --json`, which verifies and writes to disk before it answers, in turns with an Express application that does
 * the same with npm packages, and with a bare durable receiver. All receive the same webhooks.
 * Fewer webhooks a round: npm run bench -- listen 5000
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { showProgress } from "./progress.mjs";
import { createHome, startListen, startOther, timeOfProcessor } from "./receivers.mjs";
import { median, row } from "./row.mjs";
import { load, newKey, webhook } from "./webhooks.mjs";

const ROUNDS = 5;
const CONNECTIONS = 64;
/** Webhooks before each measurement: a listener is warm after a few seconds. */
const WARM_UP = 2000;
const [count = "10000"] = process.argv.slice(2);

const { privateKey, publicKey } = newKey();
const port = await freePort();
const url = `http://127.0.0.1:${port}/`;
const webhooks = Array.from({ length: WARM_UP + Number(count) }, (_, index) => {
  if (index % 100 === 0) showProgress(`signing ${index} of ${WARM_UP + Number(count)} webhooks`);
  return webhook(url, privateKey);
});

/** An application that answers at once, in a process of its own, and tells how many webhooks it has taken. */
const APP = `let taken = 0;
  require("node:http").createServer((request, response) => {
    if (request.method === "GET") return response.end(String(taken));
    request.resume().on("end", () => { taken += 1; response.end(); });
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;

async function startApp() {
  const child = spawn(process.execPath, ["-e", APP], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  const url = `http://127.0.0.1:${String(line).trim()}/`;
  let expected = 0;
  return {
    url,
    /** Resolves once it has taken so many more than before. */
    took: async (/** @type {number} */ more) => {
      expected += more;
      for (let taken = 0; taken < expected; taken = Number(await (await fetch(url)).text())) await pause(20);
    },
    stop: () => void child.kill("SIGKILL"),
  };
}

const app = await startApp();

/** @typedef {(home: string) => ReturnType<typeof startListen>} Start */
/** @type {Record<string, Start>} */
const RECEIVERS = {
  express: (home) => startOther("express-insert.mjs", home, port),
  listen: (home) => startListen(home, "--port", String(port), "--tolerance", "1h"),
  stored: (home) =>
    startListen(
      home,
      "--port",
      String(port),
      "--tolerance",
      "1h",
      "--ack",
      "stored",
      "--forward-to",
      app.url,
    ),
  floor: (home) => startOther("floor.mjs", home, port),
};

/** Every receiver has the same port: it is part of what is signed. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  server.close();
  return address.port;
}

/** @param {readonly import("./webhooks.mjs").Webhook[]} list */
async function post(list) {
  let next = 0;
  let refused = 0;
  const measured = await load(
    url,
    CONNECTIONS,
    () => list[next++],
    (_, status) => {
      if (status !== 200) refused += 1;
    },
  );
  if (refused > 0) throw new Error(`${refused} webhooks were not answered with 200`);
  return measured;
}

/**
 * One round in a new folder, so that every round starts alike.
 * @param {Start} start
 */
async function measure(start) {
  const { home, remove } = createHome(publicKey);
  const receiver = await start(home);
  await post(webhooks.slice(0, WARM_UP));
  const forwards = start === RECEIVERS["stored"];
  if (forwards) await app.took(WARM_UP);
  const started = performance.now();
  const before = timeOfProcessor(receiver.pid);
  const measured = await post(webhooks.slice(WARM_UP));
  const { p99 = Number.NaN } = measured;
  // What counts is what has arrived.
  if (forwards) await app.took(Number(count));
  const perSecond = forwards
    ? Math.round(Number(count) / ((performance.now() - started) / 1000))
    : measured.perSecond;
  const busy = (timeOfProcessor(receiver.pid) - before) / Number(count);
  await receiver.stop("SIGINT");
  remove();
  return { perSecond, p99, busy };
}

/** @type {Record<string, number[]>} */
const rates = {};
process.stdout.write("round  receiver  webhooks/s  p99 ms  processor µs each\n");
for (let round = 1; round <= ROUNDS; round++)
  for (const [name, start] of Object.entries(RECEIVERS)) {
    showProgress(`round ${round} of ${ROUNDS}: ${name}`);
    const { perSecond, p99, busy } = await measure(start);
    (rates[name] ??= []).push(perSecond);
    showProgress("");
    const cells = [
      String(round).padStart(5),
      name.padEnd(8),
      String(perSecond).padStart(10),
      p99.toFixed(1).padStart(6),
      (busy * 1e6).toFixed(0).padStart(17),
    ];
    process.stdout.write(`${cells.join("  ")}\n`);
  }

/** @param {string} name The middle of the ratios of each round. */
const ratioTo = (name) =>
  median((rates["listen"] ?? []).map((rate, round) => rate / (rates[name]?.[round] ?? Number.NaN)));
const FULL = "HTTP, RSA and SQLite fill both cores";
const perSecond = `${median(rates["listen"] ?? [])} webhooks a second`;
row("`listen` against Express, http-message-signatures and SQLite", ratioTo("express"), {
  least: 3.5,
  note: perSecond,
  why: FULL,
});
row("`listen` against a bare durable receiver", ratioTo("floor"), { least: 0.6, note: perSecond, why: FULL });
row("`listen --ack stored`, first attempts, against `listen` alone", 1 / ratioTo("stored"), {
  least: 0.4,
  note: `${median(rates["stored"] ?? [])} a second`,
  why: FULL,
});
app.stop();
