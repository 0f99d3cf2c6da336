// Kills `bulk` at random moments, runs it to its end, and counts links by row: none may be lost, and none made twice.
// One service alone: npm run bench -- bulk-kill plain|hostile|sandbox [number of kills]
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { bulk, folder, ROWS, say, startSandbox, writeList } from "./bulk.mjs";
import { row } from "./row.mjs";

/** Milliseconds after its first request within which a run is killed. */
const WITHIN = 200;

/** A service that counts: how many links each invoice got. With `hostile`, it fails in every way at random. */
function countingService(hostile) {
  const links = new Map();
  const seen = { 429: 0, 503: 0, reset: 0, stall: 0, 500: 0 };
  const server = createServer((incoming, outgoing) => {
    const chunks = [];
    incoming.on("data", (chunk) => chunks.push(chunk));
    incoming.on("end", () => {
      const { invoiceId } = JSON.parse(Buffer.concat(chunks).toString());
      const fate = hostile ? Math.random() : 1;
      const create = () => {
        const id = `${invoiceId}-${(links.get(invoiceId) ?? 0) + 1}`;
        links.set(invoiceId, (links.get(invoiceId) ?? 0) + 1);
        return JSON.stringify({ id, url: `http://127.0.0.1/pay?r=${id}`, status: "active" });
      };
      const put = (status, headers = {}) => {
        seen[status]++;
        outgoing.writeHead(status, headers).end();
      };
      if (fate < 0.01) put(429, { "retry-after": "0" });
      else if (fate < 0.02) put(503, { "retry-after": "0" });
      else if (fate < 0.022) {
        seen.reset++;
        // Half of those that are reset were created all the same.
        if (Math.random() < 0.5) create();
        incoming.socket.destroy();
      } else if (fate < 0.023) {
        seen.stall++;
        create();
      } else outgoing.writeHead(200, { "content-type": "application/json" }).end(create());
    });
  });
  return new Promise((ready) =>
    server.listen(0, "127.0.0.1", () =>
      ready({
        url: `http://127.0.0.1:${server.address().port}`,
        seen,
        links: async () => links,
        onRequest: (heard) => server.once("request", heard),
        offRequest: (heard) => server.off("request", heard),
        stop: () => server.close().closeAllConnections(),
      }),
    ),
  );
}

const plain = (home) => serviceWithProfile(home, false);
const hostile = (home) => serviceWithProfile(home, true);

async function serviceWithProfile(home, isHostile) {
  const service = await countingService(isHostile);
  const profile = { baseUrl: service.url, token: "t", terminalId: "1", currency: "EUR" };
  writeFileSync(
    join(home, "settings.json"),
    JSON.stringify({ current: "bench", profiles: { bench: profile } }),
  );
  return service;
}

/** The sandbox tells of each link on its stdout, and its database which row each is for. */
async function sandbox(home) {
  const { child } = await startSandbox(home);
  return {
    onRequest: (heard) => child.stdout.once("data", heard),
    offRequest: (heard) => child.stdout.off("data", heard),
    links: () => linksIn(join(home, "data", "sandbox", "sandbox.db")),
    stop: () => child.kill("SIGKILL"),
  };
}

async function linksIn(path) {
  const { DatabaseSync } = await import("node:sqlite").catch(() => import("@photostructure/sqlite"));
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database
    .prepare(
      "SELECT json_extract(request, '$.invoiceId') AS invoice, count(*) AS links FROM links GROUP BY 1",
    )
    .all();
  database.close();
  return new Map(rows.map(({ invoice, links }) => [invoice, Number(links)]));
}

/** Kills the run at a random moment after its first request. */
const killing = (service) => (child) => {
  let timer;
  const heard = () => (timer = setTimeout(() => child.kill("SIGKILL"), Math.random() * WITHIN));
  service.onRequest(heard);
  return () => {
    clearTimeout(timer);
    service.offRequest(heard);
  };
};

async function kills(name, open, most) {
  const home = folder();
  const service = await open(home);
  try {
    const killed = await killAndFinish(home, service, most);
    const { rows, created, unknown, other, twice, lost } = countRows(home, await service.links());
    say(
      `bulk, ${rows} rows, ${killed} kills, ${name}: ${created} created, ${unknown} unknown, ${other} other; ` +
        `${twice} twice, ${lost} lost` +
        (service.seen === undefined ? "" : `; the service did ${JSON.stringify(service.seen)}`),
    );
    const at = name === "sandbox" ? "the sandbox" : `a ${name} service`;
    const note = `of ${created}; ${unknown} left as unknown`;
    row(`links created twice, or lost, over ${most} kills of \`bulk\`, at ${at}`, twice + lost, {
      most: 0,
      unit: "",
      digits: 0,
      note,
    });
    if (rows !== ROWS || twice + lost + other > 0) process.exitCode = 1;
  } finally {
    service.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** How often it was killed before it came to its end. */
async function killAndFinish(home, service, most) {
  const list = join(home, "list.csv");
  await writeList(list, ROWS);
  const args = [list, "--timeout", "2s"];
  let killed = 0;
  while (killed < most) {
    const { code } = await bulk(home, args, killing(service));
    if (code !== null) break;
    killed++;
  }
  let last = await bulk(home, args);
  for (let again = 0; again < 20 && / not sent/.test(last.output); again++) last = await bulk(home, args);
  return killed;
}

/** What the results say of each row, held against what the service made. */
function countRows(home, links) {
  const results = readFileSync(join(home, "list.links.csv"), "utf8").trim().split("\n").slice(1);
  const count = { rows: results.length, created: 0, unknown: 0, other: 0, twice: 0, lost: 0 };
  for (const [index, line] of results.entries()) {
    const status = line.includes(",created,") ? "created" : line.includes(",unknown,") ? "unknown" : "other";
    count[status]++;
    const made = links.get(`INV-${index + 1}`) ?? 0;
    if (made > 1) count.twice++;
    if (status === "created" && made !== 1) count.lost++;
  }
  return count;
}

const SERVICES = { plain, hostile, sandbox };
const [only, most = "50"] = process.argv.slice(2);
for (const [name, open] of Object.entries(SERVICES))
  if (only === undefined || only === name) await kills(name, open, Number(most));
