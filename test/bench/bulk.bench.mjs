/**
 * `bulk` compared with a bare undici loop and with itself after many lists, and its memory over 200,000 rows.
 * One part alone: npm run bench -- bulk throughput|history|memory
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, request } from "undici";
import { BINARY, bulk, environment, newHome, openDatabase, ROWS, startSandbox, writeList } from "./bulk.mjs";
import { showProgress } from "./progress.mjs";
import { median, row } from "./row.mjs";

const CONCURRENCY = 8;
const ROUNDS = 5;

/**
 * The floor: the same requests, with the values that the profile adds, over the same number of connections, from a
 * process that does nothing else.
 * @param {string} url
 * @param {string} home
 */
async function bareLoop(url, home) {
  const { profiles } = JSON.parse(readFileSync(join(home, "settings.json"), "utf8"));
  const { token, terminalId, currency, callbackUrl, failureCallbackUrl } = profiles.sandbox;
  const agent = new Agent({ connections: CONCURRENCY });
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  let next = 0;
  const slot = async () => {
    while (next < ROWS) {
      const number = ++next;
      const body = JSON.stringify({
        amount: number + 0.5,
        customerName: `Customer ${number}`,
        invoiceId: `INV-${number}`,
        customerDetails: { email: `customer${number}@shop.example` },
        currency,
        terminalId,
        paymentSettings: { callbackUrl, failureCallbackUrl },
        expirationDate: "2099-01-01T00:00:00.000Z",
      });
      const reply = await request(`${url}v1/payment-links`, {
        method: "POST",
        headers,
        body,
        dispatcher: agent,
      });
      await reply.body.json();
      if (reply.statusCode !== 200) throw new Error(`the sandbox answered with ${reply.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, slot));
  await agent.close();
}

/**
 * Seconds for a whole process that runs the loop alone.
 * @param {string} url
 * @param {string} home
 */
function timeBareLoop(url, home) {
  const started = performance.now();
  const { status } = spawnSync(process.execPath, [import.meta.filename, "--bare-loop", url, home], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("the bare loop failed");
  return (performance.now() - started) / 1000;
}

/** Lists of this size that the service has links of when `bulk` reads them: one a month of the 90 days that it looks back. */
const LISTS_BEFORE = 3;

async function throughput() {
  const ratios = [];
  for (let round = 1; round <= ROUNDS; round++) {
    showProgress(`round ${round} of ${ROUNDS}`);
    const home = newHome();
    const { child, url } = await startSandbox(home);
    let bare = 0;
    // The first of them warm up the sandbox.
    for (let before = 0; before < LISTS_BEFORE; before++) bare = timeBareLoop(url, home);
    const list = join(home, "list.csv");
    // Orders of their own: `bulk` reads the links of the loop, and would not send them again.
    await writeList(
      list,
      ROWS,
      (number) => `${number}.50,Customer ${number},R-${number},c${number}@shop.example,\n`,
    );
    const ours = await bulk(home, [list]);
    child.kill("SIGKILL");
    if (ours.code !== 0) throw new Error(ours.output);
    rmSync(home, { recursive: true });
    ratios.push({ bare: ROWS / bare, ours: ROWS / ours.seconds, ratio: bare / ours.seconds });
  }
  showProgress("");
  const middle = ratios.toSorted((a, b) => a.ratio - b.ratio)[ROUNDS >> 1];
  if (middle === undefined) throw new Error("no round was measured");
  process.stdout.write(
    `bulk, ${ROWS} rows, whole process: ${middle.ours.toFixed(0)}/s against ${middle.bare.toFixed(0)}/s of a bare loop; ` +
      `all: ${ratios.map(({ ratio }) => ratio.toFixed(2)).join(" ")}\n`,
  );
  row("`bulk` of 10,000 rows, with 30,000 links read first, against a bare undici loop", middle.ratio, {
    least: 0.6,
  });
}

const LISTS = 100;
const ONE_ROW_RUNS = 9;

/** Lists of one row, in turn in a home that has sent nothing else and in one that has sent many lists. */
async function history() {
  const homes = [newHome(), newHome()];
  const sandboxes = await Promise.all(homes.map(startSandbox));
  let sent = 0;
  /** @param {string} home */
  const sendOne = async (home) => {
    const list = join(home, "one.csv");
    writeFileSync(list, `amount,customerName,invoiceId\n1,Ada,ONE-${++sent}\n`);
    const { code, seconds, output } = await bulk(home, [list]);
    if (code !== 0) throw new Error(output);
    return seconds;
  };
  for (const home of homes) await sendOne(home);
  const [empty = "", full = ""] = homes;
  await addLists(join(full, "data", "bulk", "bulk.db"));
  await sendOne(full);
  /** @type {number[]} */
  const before = [];
  /** @type {number[]} */
  const after = [];
  for (let run = 0; run < ONE_ROW_RUNS; run++) {
    before.push(await sendOne(empty));
    after.push(await sendOne(full));
  }
  for (const { child } of sandboxes) child.kill("SIGKILL");
  for (const home of homes) rmSync(home, { recursive: true });
  row("`bulk` of one row after 100 lists of 10,000, against before", median(after) / median(before), {
    most: 1.2,
  });
}

/**
 * Adds the rows of lists to the memory that has one row, at the same service and with links that have not expired.
 * @param {string} path
 */
async function addLists(path) {
  const database = await openDatabase(path);
  database.exec(`
    WITH RECURSIVE series (value) AS (
      SELECT 1 UNION ALL SELECT value + 1 FROM series WHERE value < ${LISTS * ROWS}
    )
    INSERT INTO sent_rows (key, occurrence, attempt, state, lease, sent_at, payment, content, order_number, id, url)
      SELECT substr(hex(randomblob(11)), 1, 22), 1, 1, 'created', lease, sent_at + value, payment, content, order_number,
        hex(randomblob(8)), 'http://localhost/pay?r=' || hex(randomblob(8))
      FROM (SELECT * FROM sent_rows LIMIT 1) JOIN series;
  `);
  database.close();
}

async function memory() {
  const home = newHome();
  const { child, url } = await startSandbox(home);
  // Each of these links is of one of the list's first 10,000 orders, so that all of them are kept.
  for (let before = 0; before < LISTS_BEFORE; before++) timeBareLoop(url, home);
  const list = join(home, "long.csv");
  await writeList(list, 200_000);
  const args = ["-f", "%M", process.execPath, BINARY, "bulk", list, "--dry-run"];
  const { stderr, status } = spawnSync("/usr/bin/time", args, { env: environment(home), encoding: "utf8" });
  child.kill("SIGKILL");
  const peak = Number(stderr.trim().split("\n").at(-1)) / 1024;
  if (status !== 0) throw new Error(stderr);
  row("memory of `bulk` of 200,000 rows, with 30,000 links read, dry run", peak, {
    most: 512,
    unit: "MiB",
    digits: 0,
  });
  rmSync(home, { recursive: true });
}

const [part, url = "", home = ""] = process.argv.slice(2);
if (part === "--bare-loop") await bareLoop(url, home);
if (part === undefined || part === "throughput") await throughput();
if (part === undefined || part === "history") await history();
if (part === undefined || part === "memory") await memory();
