/**
 * A backlog of webhooks that listen --ack stored forwards to an application that takes 50 ms for each, against what as many
 * requests at the same time as the default allows could reach: in SQLite and in PostgreSQL.
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

/** An application that hangs until it is told to answer. */
async function startApp() {
  let answers = false;
  let accepted = 0;
  let [first, last] = [0, 0];
  const server = createServer((request, response) => {
    request.resume();
    if (!answers) return;
    first ||= performance.now();
    setTimeout(() => {
      accepted += 1;
      last = performance.now();
      response.end();
    }, TAKES);
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
 * The webhooks a second that the application gets.
 * @param {readonly string[]} store Flags that name it.
 */
async function measure(store) {
  const { home, remove } = createHome(publicKey);
  const app = await startApp();
  const flags = ["--forward-to", app.target, "--ack", "stored", ...store];
  // One request hangs, and everything else waits.
  const filling = await startListen(home, ...flags, "--forward-concurrency", "1", "--forward-timeout", "10m");
  const webhooks = Array.from({ length: Number(count) }, () => webhook(filling.url, privateKey));
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
  while (app.accepted() < Number(count) * 0.95) await new Promise((done) => setTimeout(done, 20));
  const perSecond = app.perSecond();
  await forwarding.stop("SIGKILL");
  app.close();
  remove();
  return perSecond;
}

const most = AT_ONCE / (TAKES / 1000);
const what = `a backlog of ${count} at an application of ${TAKES} ms, against ${AT_ONCE} requests at once`;
const inFile = await measure([]);
row(`${what}: SQLite`, inFile / most, { least: 0.8, note: `${inFile.toFixed(0)} a second` });
const server = await startPostgresServer({ fsync: true });
const onServer = await measure(["--db", await server.createDatabase()]);
row(`${what}: PostgreSQL`, onServer / most, { least: 0.8, note: `${onServer.toFixed(0)} a second` });
await server.remove();
