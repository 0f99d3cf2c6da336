/**
 * A backlog of webhooks that listen --ack stored forwards to an application that takes 50 ms for each, against what as many
 * requests at the same time as the default allows could reach: in SQLite and in PostgreSQL, and while one in a hundred hangs.
 */
import { createServer } from "node:http";
import { startPostgresServer } from "../support/postgres-server.mjs";
import { createHome, startListen } from "./receivers.mjs";
import { row } from "./row.mjs";
import { load, newKey, webhook } from "./webhooks.mjs";

const [count = "10000"] = process.argv.slice(2);
const TAKES = 50;
const AT_ONCE = 8;
const { privateKey, publicKey } = newKey();

/** The payments that hang of those that are answered: each HANGS-th. */
const HANGS = 100;

/**
 * An application that hangs until it is told to answer. Each time that it gets one of `hanging`, it never answers.
 * @param {ReadonlySet<string>} hanging
 */
async function startApp(hanging) {
  let answers = false;
  let accepted = 0;
  let [first, last] = [0, 0];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      if (!answers) return;
      first ||= performance.now();
      if (hanging.has(JSON.parse(body).uti)) return;
      setTimeout(() => {
        accepted += 1;
        last = performance.now();
        response.end();
      }, TAKES);
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(undefined)));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the application has no port");
  return {
    target: `http://127.0.0.1:${address.port}/`,
    answer: () => (answers = true),
    accepted: () => accepted,
    perSecond: () => accepted / ((last - first) / 1000),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * The webhooks a second that the application accepts.
 * @param {readonly string[]} store Flags that name it.
 * @param {boolean} someHang
 */
async function measure(store, someHang) {
  const { home, remove } = createHome(publicKey);
  /** @type {Set<string>} */
  const hanging = new Set();
  const app = await startApp(hanging);
  const flags = ["--forward-to", app.target, "--ack", "stored", ...store];
  // One request hangs, and everything else waits.
  const filling = await startListen(home, ...flags, "--forward-concurrency", "1", "--forward-timeout", "10m");
  const webhooks = Array.from({ length: Number(count) }, () => webhook(filling.url, privateKey));
  if (someHang) for (const [index, { uti }] of webhooks.entries()) if (index % HANGS === 0) hanging.add(uti);
  await load(
    filling.url,
    64,
    () => webhooks.pop(),
    () => undefined,
  );
  await filling.stop("SIGKILL");
  app.answer();
  const forwarding = await startListen(home, ...flags);
  // What was under way and what was claimed with it come later: their claims have to end.
  while (app.accepted() < (Number(count) - hanging.size) * 0.95)
    await new Promise((done) => setTimeout(done, 20));
  const perSecond = app.perSecond();
  await forwarding.stop("SIGKILL");
  app.close();
  remove();
  return perSecond;
}

const most = AT_ONCE / (TAKES / 1000);
const what = `a backlog of ${count} at an application of ${TAKES} ms, against ${AT_ONCE} requests at once`;
const hang = "the same while one event in a hundred hangs";
/**
 * @param {string} place
 * @param {readonly string[]} store
 */
async function report(place, store) {
  const perSecond = await measure(store, false);
  row(`${what}: ${place}`, perSecond / most, { least: 0.8, note: `${perSecond.toFixed(0)} a second` });
}
/**
 * @param {string} place
 * @param {readonly string[]} store
 */
async function reportHanging(place, store) {
  const perSecond = await measure(store, true);
  row(`${hang}: ${place}`, perSecond / most, { least: 0.6, note: `${perSecond.toFixed(0)} a second` });
}
await report("SQLite", []);
await reportHanging("SQLite", []);
const server = await startPostgresServer({ fsync: true });
await report("PostgreSQL", ["--db", await server.createDatabase()]);
await reportHanging("PostgreSQL", ["--db", await server.createDatabase()]);
await server.remove();
