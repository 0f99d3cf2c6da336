/**
 * listen --json on PostgreSQL, durable, against a bare receiver that inserts what arrived together with the same driver;
 * against the inserts of the same batches alone; and the same load through two receivers.
 */
import pg from "pg";
import { startPostgresServer } from "../support/postgres-server.mjs";
import { createHome, startListen, startOther } from "./receivers.mjs";
import { median, row } from "./row.mjs";
import { load, newKey, webhook } from "./webhooks.mjs";

const CONNECTIONS = 64;
const [count = "10000", rounds = "5"] = process.argv.slice(2);

const { privateKey, publicKey } = newKey();
const server = await startPostgresServer({ fsync: true });

/** @type {(home: string, database: string) => ReturnType<typeof startListen>} */
const listenOn = (home, database) => startListen(home, "--db", database);

/** @type {(home: string, database: string) => ReturnType<typeof startOther>} */
const startBare = (home, database) => startOther("floor.mjs", home, 4699, database);

/**
 * The webhooks a second that the receivers together acknowledge.
 * @param {string} database
 * @param {number} receivers
 * @param {typeof listenOn} start
 */
async function measure(database, receivers, start) {
  const homes = Array.from({ length: receivers }, () => createHome(publicKey));
  const started = await Promise.all(homes.map(({ home }) => start(home, database)));
  const share = Math.floor(Number(count) / receivers);
  const loads = started.map(({ url }) => ({
    url,
    requests: Array.from({ length: share }, () => webhook(url, privateKey)),
  }));
  let refused = 0;
  const begun = performance.now();
  await Promise.all(
    loads.map(({ url, requests }) =>
      load(
        url,
        CONNECTIONS / receivers,
        () => requests.pop(),
        (_, status) => {
          if (status !== 200) refused += 1;
        },
      ),
    ),
  );
  const seconds = (performance.now() - begun) / 1000;
  await Promise.all(started.map((receiver) => receiver.stop("SIGINT")));
  for (const { remove } of homes) remove();
  if (refused > 0) throw new Error(`${refused} webhooks were not answered with 200`);
  return (share * receivers) / seconds;
}

/**
 * Inserts the rows that a receiver stored into a table of the same form, a transaction for each of its transactions.
 * @param {string} database
 */
async function insertBare(database) {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const { rows, fields } = await client.query({
    text: "SELECT xmin::text, * FROM paylink.events ORDER BY seq",
    rowMode: "array",
  });
  // `seq`, the first column of the table, is given by the database.
  const columns = fields.slice(2).map(({ name }) => name);
  /** @type {Map<string, unknown[][]>} */
  const batches = new Map();
  for (const [transaction, , ...values] of rows) {
    const batch = batches.get(transaction) ?? [];
    batch.push(values);
    batches.set(transaction, batch);
  }
  await client.query("CREATE TABLE bare (LIKE paylink.events INCLUDING ALL)");
  const begun = performance.now();
  for (const batch of batches.values()) {
    let number = 0;
    const places = batch.map(() => `(${columns.map(() => `$${++number}`).join()})`);
    await client.query(`INSERT INTO bare (${columns.join()}) VALUES ${places.join()}`, batch.flat());
  }
  const seconds = (performance.now() - begun) / 1000;
  await client.end();
  return { perSecond: rows.length / seconds, perBatch: rows.length / batches.size };
}

/** @type {number[]} */
const toReceiver = [];
/** @type {number[]} */
const toInserts = [];
/** @type {number[]} */
const rates = [];
/** @type {number[]} */
const pairs = [];
process.stdout.write("round  inserts/s  batch  bare/s  listen/s  two/s  ratio\n");
for (let round = 1; round <= Number(rounds); round++) {
  const bare = await measure(await server.createDatabase(), 1, startBare);
  const database = await server.createDatabase();
  const ours = await measure(database, 1, listenOn);
  const { perSecond, perBatch } = await insertBare(database);
  const two = await measure(await server.createDatabase(), 2, listenOn);
  toReceiver.push(ours / bare);
  toInserts.push(ours / perSecond);
  rates.push(ours);
  pairs.push(two / ours);
  const cells = [
    String(round).padStart(5),
    perSecond.toFixed(0).padStart(9),
    perBatch.toFixed(0).padStart(5),
    bare.toFixed(0).padStart(6),
    ours.toFixed(0).padStart(8),
    two.toFixed(0).padStart(5),
    (ours / bare).toFixed(2).padStart(5),
  ];
  process.stdout.write(`${cells.join("  ")}\n`);
}
await server.remove();
const note = `${Math.round(median(rates))} webhooks a second`;
row("`listen` on PostgreSQL against a bare receiver with `pg`", median(toReceiver), {
  least: 0.5,
  note,
  why: "HTTP, RSA and the statements share one thread",
});
row("`listen` on PostgreSQL against its inserts alone", median(toInserts), {});
row("two receivers on one PostgreSQL against one", median(pairs), {});
