/**
 * Creating links in the sandbox, compared with bare hono with the same validation and one durable write; then 20 kills.
 * Fewer links a round: npm run bench -- sandbox 500
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "rolldown";
import { comparePages } from "./dashboard-pages.mjs";
import { showProgress } from "./progress.mjs";
import { median, row } from "./row.mjs";

const CONCURRENCY = 16;
const ROUNDS = 5;
const KILLS = 20;
const BAR = 0.5;
const [links = "4000"] = process.argv.slice(2);

const home = mkdtempSync(join(tmpdir(), "paylink-bench-"));
const binary = resolve(import.meta.dirname, "../../bin/paylink.js");
let agent = new Agent({ keepAlive: true });

/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();

/** @param {string[]} args */
function start(args) {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, PAYLINK_HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  const ended = new Promise((done) => child.on("exit", done));
  /**
   * The address in the first line of this type.
   * @param {"ready" | "dashboard"} type
   * @returns {Promise<string>}
   */
  const printed = (type) =>
    new Promise((done) => {
      let text = "";
      const line = new RegExp(`"type":"${type}","url":"([^"]+)".*\\n`);
      child.stdout.on("data", function read(chunk) {
        text += chunk;
        const [, url] = line.exec(text) ?? [];
        if (url === undefined) return;
        child.stdout.off("data", read);
        done(url);
      });
    });
  /** @param {NodeJS.Signals} [signal] */
  const stop = async (signal) => {
    child.kill(signal);
    await ended;
  };
  return { ready: printed("ready"), dashboard: printed("dashboard"), stop };
}

/**
 * @param {string} url
 * @param {Readonly<Record<string, string>>} headers
 * @param {string} body
 * @returns {Promise<{ status: number | undefined, text: string }>}
 */
function post(url, headers, body) {
  return new Promise((done, fail) => {
    const sent = request(url, { method: "POST", agent, headers }, (reply) => {
      let text = "";
      reply.on("data", (chunk) => (text += chunk));
      reply.on("end", () => done({ status: reply.statusCode, text }));
      reply.on("error", fail);
    });
    sent.on("error", fail);
    sent.end(body);
  });
}

/** @param {object} [extra] */
const linkRequest = (extra) =>
  JSON.stringify({
    amount: 10.5,
    currency: "EUR",
    terminalId: "1234567890",
    customerName: "Ada Lovelace",
    invoiceId: "INV-1",
    expirationDate: "2090-01-01T00:00:00Z",
    ...extra,
  });

/**
 * @param {string} url
 * @param {string} token
 * @param {number} count
 */
async function createLinks(url, token, count) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const started = process.hrtime.bigint();
  let left = count;
  // Connections of an earlier round may have been closed by now.
  agent.destroy();
  agent = new Agent({ keepAlive: true });
  const worker = async () => {
    while (left-- > 0) {
      const { status } = await post(`${url}v1/payment-links`, headers, linkRequest());
      if (status !== 200) throw new Error(`answered with ${status}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return count / (Number(process.hrtime.bigint() - started) / 1e9);
}

const tokenOf = () => JSON.parse(readFileSync(join(home, "data/sandbox/sandbox.json"), "utf8")).token;

async function compare() {
  // In node_modules, where Node finds the packages that are not bundled.
  const built = resolve(import.meta.dirname, "../../node_modules/.cache/paylink-floor-hono.mjs");
  await build({
    input: join(import.meta.dirname, "hono-floor.mjs"),
    platform: "node",
    logLevel: "silent",
    external: ["@photostructure/sqlite"],
    output: { file: built, format: "esm" },
  });
  const floor = start([built, join(home, "floor.db")]);
  const sandbox = start([binary, "sandbox", "--port", "0", "--json"]);
  const [floorUrl, sandboxUrl] = await Promise.all([floor.ready, sandbox.ready]);
  /** @type {{ floor: number[], sandbox: number[] }} */
  const rates = { floor: [], sandbox: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    showProgress(`round ${round} of ${ROUNDS}`);
    const floorRate = await createLinks(floorUrl, "none", Number(links));
    const sandboxRate = await createLinks(sandboxUrl, tokenOf(), Number(links));
    // The first round warms up both.
    if (round > 0) {
      rates.floor.push(floorRate);
      rates.sandbox.push(sandboxRate);
    }
  }
  showProgress("");
  await Promise.all([floor.stop(), sandbox.stop("SIGKILL")]);
  const ratio = median(rates.sandbox.map((rate, round) => rate / (rates.floor[round] ?? Number.NaN)));
  process.stdout.write(
    `bare hono  ${median(rates.floor).toFixed(0)} links/s\nsandbox    ${median(rates.sandbox).toFixed(0)} links/s\n`,
  );
  row("links created in the sandbox against bare hono with one durable write", ratio, { least: BAR });
  if (ratio < BAR) process.exitCode = 1;
}

async function kills() {
  /** @type {Set<string>} */
  const seen = new Set();
  const receiver = createServer((incoming, reply) => {
    let text = "";
    incoming.on("data", (chunk) => (text += chunk));
    incoming.on("end", () => {
      seen.add(JSON.parse(text).uti);
      reply.end();
    });
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (receiver.address());
  const callbackUrl = `http://127.0.0.1:${port}/`;
  /** @type {string[]} */
  const paid = [];
  for (let round = 0; round < KILLS; round++) {
    showProgress(`kill ${round + 1} of ${KILLS}`);
    agent.destroy();
    agent = new Agent({ keepAlive: true });
    const sandbox = start([binary, "sandbox", "--port", "0", "--json"]);
    const url = await sandbox.ready;
    const headers = { authorization: `Bearer ${tokenOf()}`, "content-type": "application/json" };
    const created = await post(
      `${url}v1/payment-links`,
      headers,
      linkRequest({ amount: 0, linkOptions: {}, paymentSettings: { callbackUrl } }),
    );
    const link = JSON.parse(created.text).url;
    /** @param {number} count */
    const pay = async (count) => {
      const { text } = await post(
        link,
        { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
        "outcome=approved&amount=1",
      );
      paid.push(JSON.parse(text).uti);
      if (count === 20 + round) await sandbox.stop("SIGKILL");
    };
    await Promise.allSettled(Array.from({ length: 60 }, (_, count) => pay(count)));
    await sandbox.stop("SIGKILL");
  }
  showProgress("");
  const last = start([binary, "sandbox", "--port", "0", "--json"]);
  await last.ready;
  const deadline = Date.now() + 30_000;
  const missing = () => paid.filter((uti) => !seen.has(uti));
  while (missing().length > 0 && Date.now() < deadline) await new Promise((done) => setTimeout(done, 50));
  await last.stop("SIGKILL");
  receiver.closeAllConnections();
  receiver.close();
  process.stdout.write(
    `${KILLS} kills  ${paid.length} payments answered, ${missing().length} webhooks lost (bar 0)\n`,
  );
  if (missing().length > 0) process.exitCode = 1;
}

try {
  await compare();
  await comparePages({ start, post, linkRequest, tokenOf, binary, home });
  await kills();
} finally {
  for (const child of children) child.kill("SIGKILL");
  agent.destroy();
  rmSync(home, { recursive: true, force: true });
}
