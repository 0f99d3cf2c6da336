// `bulk` against a bare undici loop, over a million rows, and under kills: how fast, how large, and whether each link is created once.
// One part alone: npm run bench -- bulk throughput|memory|kills [number of kills]
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Agent, request } from "undici";
import { row } from "./row.mjs";

const BINARY = resolve(import.meta.dirname, "../../bin/paylink.js");
const ROWS = 10_000;
const CONCURRENCY = 8;

const say = (text) => process.stdout.write(`${text}\n`);
const folder = () => mkdtempSync(join(tmpdir(), "paylink-bench-"));
const environment = (home) => ({ PATH: process.env.PATH, PAYLINK_HOME: home, TZ: "UTC" });

function writeList(path, rows) {
  const file = createWriteStream(path);
  file.write("amount,customerName,invoiceId,customerDetails.email\n");
  return new Promise((done) => {
    let row = 0;
    const more = () => {
      while (row < rows) {
        row++;
        if (!file.write(`${row}.50,Customer ${row},INV-${row},customer${row}@shop.example\n`))
          return file.once("drain", more);
      }
      file.end(done);
    };
    more();
  });
}

/** Runs `bulk` to its end, or until it is killed, at most so many milliseconds after its first request arrived. */
function bulk(home, args, killing) {
  const begun = performance.now();
  const child = spawn(process.execPath, [BINARY, "bulk", ...args], {
    env: environment(home),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = [];
  child.stdout.on("data", (chunk) => output.push(chunk));
  child.stderr.on("data", (chunk) => output.push(chunk));
  let timer;
  const arrived = () => (timer = setTimeout(() => child.kill("SIGKILL"), Math.random() * killing.within));
  killing?.server.once("request", arrived);
  return new Promise((done) =>
    child.on("close", (code) => {
      clearTimeout(timer);
      killing?.server.off("request", arrived);
      done({ code, seconds: (performance.now() - begun) / 1000, output: Buffer.concat(output).toString() });
    }),
  );
}

async function withSandbox(home, use) {
  const child = spawn(process.execPath, [BINARY, "sandbox", "--port", "0", "--json"], {
    env: environment(home),
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = await new Promise((found) => {
      let text = "";
      child.stdout.on("data", (chunk) => {
        if (text.includes("\n")) return;
        text += chunk;
        const [, ready] = /"url":"([^"]+)"/.exec(text) ?? [];
        if (ready !== undefined) found(ready);
      });
    });
    return await use(url);
  } finally {
    child.kill("SIGKILL");
  }
}

/** The floor: the same requests, over the same number of connections, from a process that does nothing else. */
async function bareLoop(url, home) {
  const { profiles } = JSON.parse(readFileSync(join(home, "settings.json"), "utf8"));
  const { token, terminalId } = profiles.sandbox;
  const agent = new Agent({ connections: CONCURRENCY });
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  let next = 0;
  const slot = async () => {
    while (next < ROWS) {
      const row = ++next;
      const body = JSON.stringify({
        amount: row,
        currency: "EUR",
        terminalId,
        customerName: `Customer ${row}`,
        invoiceId: `INV-${row}`,
        customerDetails: { email: `customer${row}@shop.example` },
        expirationDate: "2099-01-01T00:00:00Z",
      });
      const reply = await request(`${url}v1/payment-links`, {
        method: "POST",
        headers,
        body,
        dispatcher: agent,
      });
      await reply.body.json();
      if (reply.statusCode !== 200) throw new Error(`the sandbox answered ${reply.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, slot));
  await agent.close();
}

/** Seconds that a whole process takes, in which the loop is all there is. */
function timeBareLoop(url, home) {
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, [import.meta.filename, "--bare-loop", url, home], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("the bare loop failed");
  return (performance.now() - begun) / 1000;
}

async function throughput() {
  const home = folder();
  const ratios = [];
  await withSandbox(home, async (url) => {
    for (let round = 0; round < 5; round++) {
      const bare = timeBareLoop(url, home);
      const list = join(home, `list-${round}.csv`);
      await writeList(list, ROWS);
      // A journal of another round would take this list for the same one.
      rmSync(join(home, "data", "bulk"), { recursive: true, force: true });
      const ours = await bulk(home, [list]);
      if (ours.code !== 0) throw new Error(ours.output);
      ratios.push({ bare: ROWS / bare, ours: ROWS / ours.seconds, ratio: bare / ours.seconds });
    }
  });
  rmSync(home, { recursive: true });
  const [, , median] = ratios.toSorted((a, b) => a.ratio - b.ratio);
  say(
    `bulk, ${ROWS} rows, whole process: ${median.ours.toFixed(0)}/s against ${median.bare.toFixed(0)}/s of a bare loop; ` +
      `all: ${ratios.map(({ ratio }) => ratio.toFixed(2)).join(" ")}`,
  );
  row("`bulk`, 10,000 rows against the sandbox, against a bare undici loop", median.ratio, { least: 0.7 });
}

async function memory() {
  const home = folder();
  const list = join(home, "million.csv");
  await writeList(list, 1_000_000);
  const args = ["-f", "%M", process.execPath, BINARY, "bulk", list, "--dry-run"];
  args.push("--currency", "EUR", "--terminal-id", "1");
  const { stderr, status } = spawnSync("/usr/bin/time", args, { env: environment(home), encoding: "utf8" });
  const peak = Number(stderr.trim().split("\n").at(-1)) / 1024;
  if (status !== 0) throw new Error(stderr);
  row("memory of `bulk` over 1,000,000 rows (`--dry-run`)", peak, { most: 150, unit: "MiB", digits: 0 });
  rmSync(home, { recursive: true });
}

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
      ready({ server, links, seen, url: `http://127.0.0.1:${server.address().port}` }),
    ),
  );
}

async function kills(hostile, most) {
  const home = folder();
  const { server, links, seen, url } = await countingService(hostile);
  const list = join(home, "list.csv");
  await writeList(list, ROWS);
  writeFileSync(
    join(home, "settings.json"),
    JSON.stringify({
      current: "bench",
      profiles: { bench: { baseUrl: url, token: "t", terminalId: "1", currency: "EUR" } },
    }),
  );
  const args = [list, "--timeout", "2s"];
  let killed = 0;
  while (killed < most) {
    const { code } = await bulk(home, args, { server, within: 200 });
    if (code !== null) break;
    killed++;
  }
  let last = await bulk(home, args);
  for (let again = 0; again < 20 && / not sent/.test(last.output); again++) last = await bulk(home, args);
  server.closeAllConnections();
  server.close();
  const results = readFileSync(join(home, "list.links.csv"), "utf8").trim().split("\n").slice(1);
  const count = { created: 0, unknown: 0, other: 0, twice: 0, lost: 0 };
  for (const [index, line] of results.entries()) {
    const status = line.includes(",created,") ? "created" : line.includes(",unknown,") ? "unknown" : "other";
    count[status]++;
    const made = links.get(`INV-${index + 1}`) ?? 0;
    if (made > 1) count.twice++;
    if (status === "created" && made !== 1) count.lost++;
  }
  say(
    `bulk, ${results.length} rows, ${killed} kills${hostile ? ", hostile service" : ""}: ${count.created} created, ` +
      `${count.unknown} unknown, ${count.other} other; ${count.twice} twice, ${count.lost} lost (both must be 0)` +
      (hostile ? `; the service did ${JSON.stringify(seen)}` : ""),
  );
  const what = `links created twice, or lost, over ${most} kills of \`bulk\`${hostile ? ", at a hostile service" : ""}`;
  const note = `of ${count.created}; ${count.unknown} left as unknown`;
  row(what, count.twice + count.lost, { most: 0, unit: "", digits: 0, note });
  rmSync(home, { recursive: true });
}

const [part, ...rest] = process.argv.slice(2);
const wants = (name) => part === undefined || part === name;
if (part === "--bare-loop") await bareLoop(...rest);
if (wants("throughput")) await throughput();
if (wants("memory")) await memory();
if (wants("kills")) for (const hostile of [false, true]) await kills(hostile, Number(rest[0] ?? 50));
