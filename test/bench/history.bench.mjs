/**
 * What history costs: a backlog of acknowledged webhooks at an application that takes 50 ms, on an empty PostgreSQL, against
 * the same behind many finished attempts (10 million by default).
 */
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { startPostgresServer } from "../support/postgres-server.mjs";
import { createHome, startListen } from "./receivers.mjs";
import { row } from "./row.mjs";
import { load, newKey, webhook } from "./webhooks.mjs";

const [attempts = "10000000", backlog = "2000"] = process.argv.slice(2);
const APPLICATION_TIME = 50;
const CONNECTIONS = 64;

const { privateKey, publicKey } = newKey();
const server = await startPostgresServer({ fsync: true });
const { home, remove } = createHome(publicKey);
let accepted = 0;
let begun = 0;
const application = createServer((request, response) => {
  begun ||= performance.now();
  request.resume().on("end", () =>
    setTimeout(() => {
      accepted += 1;
      response.end();
    }, APPLICATION_TIME),
  );
});
await new Promise((resolve) => application.listen(0, "127.0.0.1", () => resolve(undefined)));
const address = application.address();
const port = address !== null && typeof address === "object" ? address.port : 0;
const target = ["--ack", "stored", "--forward-to", String(port)];

/** Ids in the order of arrival, before today's, as receivers make them. Each event was refused once, and then accepted. */
const id = (/** @type {string} */ n) => `'0' || lpad((${n})::text, 13, '0')`;
const HISTORY = `
  INSERT INTO paylink.events (id, uti, received_at, outcome, reference, key, path, currency, card, payment, verdict, head, digest, body, seal)
    SELECT ${id("n")}, 'uti-' || n, n, 'APPROVED', 'INV-' || n, '', '/', 'EUR', '', 'APPROVED EUR ', '{}', '{}', 'digest-' || n, '{}', ''
    FROM generate_series(1, ${Number(attempts) / 2}) AS numbers (n);
  INSERT INTO paylink.deliveries (event, outcome, key, state, attempts)
    SELECT ${id("n")}, 'APPROVED', '', 'delivered', 2
    FROM generate_series(1, ${Number(attempts) / 2}) AS numbers (n);
  INSERT INTO paylink.attempts (event, at, target, status, ms, detail, replay)
    SELECT ${id("1 + n / 2")}, n, 'http://localhost/', CASE n % 2 WHEN 0 THEN 500 ELSE 200 END, 50, '', 0
    FROM generate_series(0, ${Number(attempts) - 1}) AS numbers (n);
  ANALYZE`;

/**
 * The webhooks a second that reach the application from a backlog.
 * @param {string} database
 */
async function forwarded(database) {
  const receiver = await startListen(home, "--db", database);
  const requests = Array.from({ length: Number(backlog) }, () => webhook(receiver.url, privateKey));
  await load(
    receiver.url,
    CONNECTIONS,
    () => requests.pop(),
    () => undefined,
  );
  await receiver.stop("SIGINT");
  // Stored without a target, they are put into the queue as a receiver would.
  await server.query(
    `INSERT INTO paylink.deliveries (event, outcome, key, state, due, attempts)
       SELECT id, outcome, key, 'pending', 0, 0 FROM paylink.events ORDER BY seq DESC LIMIT ${backlog}`,
    new URL(database).pathname.slice(1),
  );
  [accepted, begun] = [0, 0];
  const forwarder = await startListen(home, "--db", database, ...target);
  while (accepted < Number(backlog)) await pause(20);
  const seconds = (performance.now() - begun) / 1000;
  await forwarder.stop("SIGINT");
  return Number(backlog) / seconds;
}

const empty = await forwarded(await server.createDatabase());
process.stdout.write(`on an empty database: ${empty.toFixed(1)}/s\n`);
const filled = await server.createDatabase();
await (await startListen(home, "--db", filled)).stop("SIGINT");
await server.query(HISTORY, new URL(filled).pathname.slice(1));
process.stdout.write(`${attempts} attempts written\n`);
const after = await forwarded(filled);
process.stdout.write(`behind them: ${after.toFixed(1)}/s\n`);
application.close();
application.closeAllConnections();
remove();
await server.remove();
row("a backlog in PostgreSQL after 10 million attempts, against before", after / empty, {
  least: 0.7,
  note: `${after.toFixed(0)} webhooks a second, ${attempts} attempts`,
});
