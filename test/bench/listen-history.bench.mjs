/**
 * What stored events cost `listen` on SQLite: the webhooks that it takes in a second on a store of many events (3,000,000 by
 * default) against an empty one, in turns. npm run bench -- listen-history 100000
 */
import { join } from "node:path";
import { createRequire } from "node:module";
import { showProgress } from "./progress.mjs";
import { createHome, startListen } from "./receivers.mjs";
import { ownPort } from "../support/own-port.mjs";
import { median, row } from "./row.mjs";
import { loadAll, newKey, webhook } from "./webhooks.mjs";

const [events = "3000000", count = "10000"] = process.argv.slice(2);
const ROUNDS = 3;
const CONNECTIONS = 64;
const WARM_UP = 2000;

const { privateKey, publicKey } = newKey();
const port = await ownPort();
const url = `http://127.0.0.1:${port}/`;

const require = createRequire(import.meta.url);
const [major = ""] = process.versions.node.split(".");
/** @type {typeof import("@photostructure/sqlite")} */
const { DatabaseSync } = require(Number(major) < 22 ? "@photostructure/sqlite" : "node:sqlite");

const listen = (/** @type {string} */ home, /** @type {string} */ store) =>
  startListen(home, "--port", String(port), "--tolerance", "1h", "--db", join(home, store));

/**
 * The webhooks a second that one store takes. They differ from those of all other rounds.
 * @param {string} home
 * @param {string} store
 */
async function measure(home, store) {
  const webhooks = Array.from({ length: WARM_UP + Number(count) }, () => webhook(url, privateKey));
  const receiver = await listen(home, store);
  await loadAll(url, CONNECTIONS, webhooks.slice(0, WARM_UP));
  const { perSecond } = await loadAll(url, CONNECTIONS, webhooks.slice(WARM_UP));
  await receiver.stop("SIGINT");
  return perSecond;
}

/** Ids in the order of arrival, before today's; utis, references and digests in no order. */
const HISTORY = `
  CREATE TEMP TABLE numbers (n INTEGER PRIMARY KEY, u TEXT);
  INSERT INTO numbers WITH RECURSIVE all_numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM all_numbers WHERE n < ${Number(events)})
    SELECT n, lower(hex(randomblob(18))) FROM all_numbers;
  INSERT INTO events (id, uti, received_at, outcome, reference, key, path, currency, amount, card, payment, verdict, head, digest, body, seal)
    SELECT printf('0%013d', n), u, n, 'APPROVED', 'INV-' || substr(u, 1, 9), hex(zeroblob(21)), '/', 'EUR', 123400, '4242',
      'APPROVED EUR 123400', '{}', '{}', substr(u, 5), zeroblob(1000), '' FROM numbers;`;

/** @param {string} path */
function fill(path) {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
  const indexes = database
    .prepare(
      "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'events' AND sql IS NOT NULL",
    )
    .all();
  // An index over rows that exist is made much sooner.
  for (const { name } of indexes) database.exec(`DROP INDEX ${String(name)}`);
  database.exec(HISTORY);
  for (const { sql } of indexes) database.exec(String(sql));
  database.exec("COMMIT; PRAGMA journal_mode=WAL");
  database.close();
}

const { home, remove } = createHome(publicKey);
await (await listen(home, "many.db")).stop("SIGINT");
showProgress(`storing ${events} events`);
fill(join(home, "many.db"));
showProgress("");
const ratios = [];
for (let round = 1; round <= ROUNDS; round++) {
  const empty = await measure(home, `empty-${round}.db`);
  const many = await measure(home, "many.db");
  ratios.push(many / empty);
  process.stdout.write(`round ${round}: ${empty}/s on an empty store, ${many}/s behind ${events} events\n`);
}
remove();
row(
  `\`listen\` with ${Number(events).toLocaleString("en")} stored events against an empty store`,
  median(ratios),
  {
    least: 0.7,
  },
);
