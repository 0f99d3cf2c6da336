/**
 * Kills `bulk` at random moments, runs it to its end, and counts links by row: none may be lost or created twice.
 * One case alone: npm run bench -- bulk-kill hostile|sandbox|postgres [number of kills]
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { bulk, hostileRow, newHome, openDatabase, ROWS, startSandbox, writeList } from "./bulk.mjs";
import { startPostgresServer } from "../support/postgres-server.mjs";
import { rowOfLost } from "./kills.mjs";
import { showProgress } from "./progress.mjs";

/** A run is killed within this many milliseconds of its first request. */
const WITHIN = 200;

/**
 * @typedef {object} Service
 * @property {(listener: () => void) => void} onRequest
 * @property {(listener: () => void) => void} offRequest
 * @property {() => Promise<Map<string, number>>} links How many links each invoice has.
 * @property {() => void} stop
 * @property {Readonly<Record<string, number>>} [failures] How often the service failed, by kind.
 */

/**
 * A service that counts the links of each invoice, and fails in every way at random.
 * @returns {Promise<Service & { url: string }>}
 */
function countingService() {
  /** @type {Map<string, number>} */
  const links = new Map();
  /** @type {object[]} Whatever the period. */
  const records = [];
  const failures = { 429: 0, 503: 0, reset: 0, stall: 0, 500: 0 };
  const server = createServer((incoming, outgoing) => {
    /** @type {Buffer[]} */
    const chunks = [];
    incoming.on("data", (chunk) => chunks.push(chunk));
    incoming.on("end", () => {
      if (incoming.method === "GET") {
        const { searchParams } = new URL(incoming.url ?? "", "http://service");
        const [at = 1, size = 20] = ["page", "size"].map((name) => Number(searchParams.get(name)));
        const page = records.slice((at - 1) * size, at * size);
        outgoing.writeHead(200, { "content-type": "application/json" });
        return void outgoing.end(JSON.stringify({ totalCount: page.length, records: page }));
      }
      server.emit("creation");
      const { invoiceId, amount, currency } = JSON.parse(Buffer.concat(chunks).toString());
      const chance = Math.random();
      const create = () => {
        const id = `${invoiceId}-${(links.get(invoiceId) ?? 0) + 1}`;
        links.set(invoiceId, (links.get(invoiceId) ?? 0) + 1);
        const createdDate = new Date().toISOString();
        const url = `http://127.0.0.1/pay?r=${id}`;
        const link = { id, url, status: "active", invoiceId, amount, currency, terminalId: "1", createdDate };
        records.push(link);
        return JSON.stringify(link);
      };
      /** @param {429 | 503} status */
      const refuse = (status) => {
        failures[status]++;
        outgoing.writeHead(status, { "retry-after": "0" }).end();
      };
      if (chance < 0.01) refuse(429);
      else if (chance < 0.02) refuse(503);
      else if (chance < 0.022) {
        failures.reset++;
        // Half of the requests that end with a reset create their link.
        if (Math.random() < 0.5) create();
        incoming.socket.destroy();
      } else if (chance < 0.023) {
        failures.stall++;
        create();
      } else outgoing.writeHead(200, { "content-type": "application/json" }).end(create());
    });
  });
  return new Promise((ready) =>
    server.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      ready({
        url: `http://127.0.0.1:${port}`,
        failures,
        links: async () => links,
        onRequest: (listener) => server.once("creation", listener),
        offRequest: (listener) => server.off("creation", listener),
        stop: () => server.close().closeAllConnections(),
      });
    }),
  );
}

/**
 * @param {string} home
 * @returns {Promise<Service>}
 */
async function serviceWithProfile(home) {
  const service = await countingService();
  const profile = { baseUrl: service.url, token: "t", terminalId: "1", currency: "EUR" };
  const settings = { current: "bench", profiles: { bench: profile } };
  writeFileSync(join(home, "settings.json"), JSON.stringify(settings));
  return service;
}

/**
 * The same, with the memory in a PostgreSQL that several runs share.
 * @param {string} home
 * @returns {Promise<Service>}
 */
async function serviceWithPostgres(home) {
  const server = await startPostgresServer({ fsync: true });
  const service = await countingService();
  const eventStore = await server.createDatabase();
  const profile = { baseUrl: service.url, token: "t", terminalId: "1", currency: "EUR", eventStore };
  writeFileSync(
    join(home, "settings.json"),
    JSON.stringify({ current: "bench", profiles: { bench: profile } }),
  );
  return {
    ...service,
    stop: () => {
      service.stop();
      void server.remove();
    },
  };
}

/**
 * The sandbox prints a line for each link; its database says which invoice the link is for.
 * @param {string} home
 * @returns {Promise<Service>}
 */
async function sandbox(home) {
  const { child } = await startSandbox(home);
  return {
    onRequest: (listener) => child.stdout.once("data", listener),
    offRequest: (listener) => child.stdout.off("data", listener),
    links: () => linksIn(join(home, "data", "sandbox", "sandbox.db")),
    stop: () => child.kill("SIGKILL"),
  };
}

/** @param {string} path */
async function linksIn(path) {
  const database = await openDatabase(path);
  const rows = database
    .prepare(
      "SELECT json_extract(request, '$.invoiceId') AS invoice, count(*) AS links FROM links GROUP BY 1",
    )
    .all();
  database.close();
  return new Map(rows.map(({ invoice, links }) => [String(invoice), Number(links)]));
}

/**
 * Kills the run at a random moment after its first request.
 * @param {Service} service
 * @returns {(child: import("node:child_process").ChildProcess) => () => void}
 */
const killAtRandom = (service) => (child) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const scheduleKill = () => {
    timer = setTimeout(() => child.kill("SIGKILL"), Math.random() * WITHIN);
  };
  service.onRequest(scheduleKill);
  return () => {
    clearTimeout(timer);
    service.offRequest(scheduleKill);
  };
};

/**
 * @typedef {object} Case
 * @property {string} label
 * @property {(home: string) => Promise<Service>} open
 * @property {(row: number) => string} [rowOf]
 * @property {number} [runs] At the same time; each of them is killed.
 */

/**
 * @param {Case} tested
 * @param {number} most
 */
async function kills(tested, most) {
  const home = newHome();
  const service = await tested.open(home);
  try {
    const killed = await killAndFinish(home, service, tested, most);
    const { rows, created, unknown, other, twice, lost } = countRows(home, await service.links());
    showProgress("");
    process.stdout.write(
      `bulk, ${rows} rows, ${killed} kills, ${tested.label}: ${created} created, ${unknown} unknown, ${other} other; ` +
        `${twice} twice, ${lost} lost` +
        (service.failures === undefined
          ? "\n"
          : `; the service failed ${JSON.stringify(service.failures)}\n`),
    );
    const note = `of ${created}; ${unknown} left as unknown`;
    rowOfLost(
      `links created twice, or lost, in ${most} kills of \`bulk\`, ${tested.label}`,
      twice + lost,
      note,
    );
    if (rows !== ROWS || other > 0) process.exitCode = 1;
  } finally {
    service.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * How often the run was killed before it ended by itself.
 * @param {string} home
 * @param {Service} service
 * @param {Case} tested
 * @param {number} most
 */
async function killAndFinish(home, service, { rowOf, runs: atOnce = 1 }, most) {
  let list = join(home, "list-0.csv");
  await writeList(list, ROWS, rowOf);
  let runs = 0;
  /**
   * @param {ReturnType<typeof killAtRandom>} [scheduleKill]
   * @param {string} [results]
   */
  const run = (scheduleKill, results = "results.csv") =>
    bulk(home, [list, "--allow-duplicates", "-o", join(home, results)], scheduleKill);
  const rename = () => {
    // A list is known by its rows, whatever its name.
    const next = join(home, `list-${++runs}.csv`);
    renameSync(list, next);
    list = next;
  };
  let killed = 0;
  while (killed < most) {
    rename();
    const ends = await Promise.all(
      Array.from({ length: atOnce }, (_, at) => run(killAtRandom(service), `killed-${at}.csv`)),
    );
    killed += ends.filter(({ code }) => code === null).length;
    if (ends.some(({ code }) => code !== null)) break;
  }
  rename();
  let last = await run();
  for (let again = 0; again < 20 && / not sent/.test(last.output); again++) last = await run();
  return killed;
}

/**
 * Compares the status of each row in the results with the links that the service created. Identical rows have one
 * invoice, and a link each.
 * @param {string} home
 * @param {ReadonlyMap<string, number>} links
 */
function countRows(home, links) {
  /** @type {Record<string, string>[]} */
  const results = parse(readFileSync(join(home, "results.csv")), { columns: true });
  const count = { rows: results.length, created: 0, unknown: 0, other: 0, twice: 0, lost: 0 };
  /** @type {Map<string, { rows: number, created: number }>} */
  const invoices = new Map();
  for (const { invoiceId = "", status } of results) {
    const isCreated = status === "created" || status === "active";
    count[isCreated ? "created" : status === "unknown" ? "unknown" : "other"]++;
    const { rows, created } = invoices.get(invoiceId) ?? { rows: 0, created: 0 };
    invoices.set(invoiceId, { rows: rows + 1, created: created + (isCreated ? 1 : 0) });
  }
  for (const [invoice, { rows, created }] of invoices) {
    const made = links.get(invoice) ?? 0;
    count.twice += Math.max(0, made - rows);
    count.lost += Math.max(0, created - made);
  }
  return count;
}

/** @type {Readonly<Record<string, Case>>} */
const CASES = {
  hostile: {
    label: "of a hostile list at a hostile service",
    open: serviceWithProfile,
    rowOf: hostileRow,
  },
  sandbox: { label: "at the sandbox", open: sandbox },
  postgres: { label: "of two runs at the same time on one PostgreSQL", open: serviceWithPostgres, runs: 2 },
};
const [only, most = "50"] = process.argv.slice(2);
for (const [name, tested] of Object.entries(CASES))
  if (only === undefined || only === name) {
    showProgress(`${name}, up to ${most} kills`);
    await kills(tested, Number(most));
  }
