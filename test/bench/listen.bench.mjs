/**
 * `listen --json`, which verifies and writes to disk before it answers, in turns with an Express application that does
 * the same with npm packages, and with a bare durable receiver. All receive the same webhooks: as many as they can take, and then
 * as many a second as a merchant may have.
 * Fewer webhooks a round: npm run bench -- listen 5000
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { showProgress } from "./progress.mjs";
import { bytesWritten, createHome, startListen, startOther, timeOfProcessor } from "./receivers.mjs";
import { ownPort } from "../support/own-port.mjs";
import { median, row } from "./row.mjs";
import { loadAll, newKey, openLoad, quantile, webhook } from "./webhooks.mjs";

const ROUNDS = 5;
const CONNECTIONS = 64;
/** Webhooks before each measurement: a listener is warm after a few seconds. */
const WARM_UP = 5000;
const [count = "20000"] = process.argv.slice(2);
/** The rate at which the time to acknowledge is measured, and for how many seconds. */
const RATE = 300;
const SECONDS = 20;

const { privateKey, publicKey } = newKey();
// Receivers that take turns have the same port, since it is part of what is signed.
const port = await ownPort();
const url = `http://127.0.0.1:${port}/`;
const [warmingUp, loading, paced] = [WARM_UP, Number(count), RATE * SECONDS].map((length, part) =>
  Array.from({ length }, (_, index) => {
    if (index % 100 === 0) showProgress(`signing webhook ${index} of ${length}, part ${part + 1} of 3`);
    return webhook(url, privateKey);
  }),
);
if (warmingUp === undefined || loading === undefined || paced === undefined)
  throw new Error("nothing to post");

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
const listening = ["--port", String(port), "--tolerance", "1h"];

/** @typedef {(home: string) => ReturnType<typeof startListen>} Start */
/** @type {Record<string, Start>} */
const RECEIVERS = {
  express: (home) => startOther("express-insert.mjs", home, port),
  listen: (home) => startListen(home, ...listening),
  stored: (home) => startListen(home, ...listening, "--ack", "stored", "--forward-to", app.url),
  floor: (home) => startOther("floor.mjs", home, port),
};
/** Those whose time to acknowledge at a merchant's rate is measured. */
const PACED = [RECEIVERS["express"], RECEIVERS["listen"]];

/**
 * One round in a new folder, so that every round starts alike.
 * @param {Start} start
 */
async function measure(start) {
  const { home, remove } = createHome(publicKey);
  const receiver = await start(home);
  const { pid, printed } = receiver;
  const forwards = start === RECEIVERS["stored"];
  await loadAll(url, CONNECTIONS, warmingUp ?? []);
  if (forwards) await app.took(WARM_UP);
  const started = performance.now();
  const before = { busy: timeOfProcessor(pid), written: bytesWritten(pid) - printed() };
  const measured = await loadAll(url, CONNECTIONS, loading ?? []);
  // What counts is what has arrived.
  if (forwards) await app.took(Number(count));
  const perSecond = forwards
    ? Math.round(Number(count) / ((performance.now() - started) / 1000))
    : measured.perSecond;
  const busy = ((timeOfProcessor(pid) - before.busy) / Number(count)) * 1e6;
  const written = (bytesWritten(pid) - printed() - before.written) / Number(count) / 1000;
  const waits = PACED.includes(start) ? await openLoad(url, paced ?? [], RATE) : [];
  await receiver.stop("SIGINT");
  remove();
  return { perSecond, busy, written, p50: quantile(waits, 0.5), p99: quantile(waits, 0.99) };
}

/** @typedef {Awaited<ReturnType<typeof measure>>} Measured */
/** @type {Record<string, Measured[]>} */
const rounds = {};
process.stdout.write(
  `round  receiver  webhooks/s  processor µs  kB written  p50 ms  p99 ms (at ${RATE} a second)\n`,
);
for (let round = 1; round <= ROUNDS; round++)
  for (const [name, start] of Object.entries(RECEIVERS)) {
    showProgress(`round ${round} of ${ROUNDS}: ${name}`);
    const measured = await measure(start);
    (rounds[name] ??= []).push(measured);
    showProgress("");
    const { perSecond, busy, written, p50, p99 } = measured;
    const cells = [
      String(round).padStart(5),
      name.padEnd(8),
      String(perSecond).padStart(10),
      busy.toFixed(0).padStart(12),
      written.toFixed(1).padStart(10),
      ...[p50, p99].map((wait) => (Number.isNaN(wait) ? "" : wait.toFixed(2)).padStart(6)),
    ];
    process.stdout.write(`${cells.join("  ").trimEnd()}\n`);
  }

/**
 * The middle of the rounds' figures of `listen`.
 * @param {keyof Measured} figure
 */
const middle = (figure) => median((rounds["listen"] ?? []).map((measured) => measured[figure]));
/**
 * The middle of the ratios of each round.
 * @param {string} name
 * @param {keyof Measured} figure
 */
const ratioTo = (name, figure) =>
  median(
    (rounds["listen"] ?? []).map(
      (measured, round) => measured[figure] / (rounds[name]?.[round]?.[figure] ?? Number.NaN),
    ),
  );
const FULL = "HTTP, RSA and SQLite fill both cores";
const perSecond = `${middle("perSecond")} webhooks a second`;
row("`listen` against Express, http-message-signatures and SQLite", ratioTo("express", "perSecond"), {
  least: 3,
  note: perSecond,
  why: FULL,
});
row("`listen` against a bare durable receiver", ratioTo("floor", "perSecond"), {
  least: 0.45,
  note: perSecond,
  why: FULL,
});
row("the same, processor time of all threads", ratioTo("floor", "busy"), {
  most: 2.8,
  note: `${middle("busy").toFixed(0)} µs a webhook`,
});
row("bytes that `listen` writes for a webhook, without its output", middle("written"), {
  most: 14,
  unit: "kB",
  digits: 1,
});
for (const [name, figure, most] of /** @type {const} */ ([
  ["half", "p50", 1.1],
  ["99 % of them", "p99", 1],
]))
  row(`time to acknowledge at ${RATE} a second against Express, ${name}`, ratioTo("express", figure), {
    most,
    note: `${middle(figure).toFixed(2)} ms`,
  });
row("`listen --ack stored`, first attempts, against `listen` alone", 1 / ratioTo("stored", "perSecond"), {
  least: 0.4,
  note: `${median((rounds["stored"] ?? []).map(({ perSecond }) => perSecond))} a second`,
  why: FULL,
});
app.stop();
