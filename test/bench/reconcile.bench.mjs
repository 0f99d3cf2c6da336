/**
 * Time and memory of `reconcile` over 100,000 paid links and the webhooks of all but ten of them, which a receiver has stored
 * (Linux). The service is a double that makes the links as it is asked for them.
 */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { BINARY, createHome, startListen } from "./receivers.mjs";
import { showProgress } from "./progress.mjs";
import { row } from "./row.mjs";
import { load, newKey, payment, webhook } from "./webhooks.mjs";

const [count = "100000"] = process.argv.slice(2);
const LINKS = Number(count);
const LOST = 10;

const numberOf = (/** @type {number} */ n) => `ORDER-2026-${n}`;
/** When all was paid: once there is a receiver, or the event store would know nothing of that time. */
let at = "";

/** @param {number} n */
const link = (n) => ({
  id: `L${100_000_000 + n}`,
  url: `https://pay.example/?r=L${100_000_000 + n}`,
  amount: 12.34,
  currency: "EUR",
  invoiceId: numberOf(n),
  terminalId: "1234567890",
  customerName: "Ada Lovelace",
  description: "An order of the shop",
  createdDate: at,
  expirationDate: "2099-01-01T00:00:00Z",
  viewedDate: at,
  attemptedDate: at,
  paidDate: at,
  cancelledDate: null,
  status: "paid",
});

const service = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? "", "http://localhost");
  const [page, size] = [Number(searchParams.get("page")), Number(searchParams.get("size"))];
  const first = (page - 1) * size;
  const length = Math.max(0, Math.min(size, LINKS - first));
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({ totalCount: LINKS, records: Array.from({ length }, (_, n) => link(first + n)) }),
  );
});
await new Promise((resolve) => service.listen(0, "127.0.0.1", () => resolve(undefined)));
const address = service.address();
const port = address !== null && typeof address === "object" ? address.port : 0;

const { privateKey, publicKey } = newKey();
const { home, remove } = createHome(publicKey);
const store = join(home, "events.db");
const receiver = await startListen(home, "--db", store);
at = new Date().toISOString();
let next = 0;
await load(
  receiver.url,
  64,
  () => {
    if (next % 1000 === 0) showProgress(`${next} of ${LINKS} webhooks received`);
    const n = next++;
    return n < LINKS - LOST ? webhook(receiver.url, privateKey, payment(numberOf(n))) : undefined;
  },
  () => undefined,
);
showProgress("");
await receiver.stop("SIGINT");

const started = performance.now();
const command = [
  BINARY,
  "reconcile",
  "--since",
  "1d",
  "--db",
  store,
  "--key",
  join(home, "key.pem"),
  "--json",
];
const child = spawn("/usr/bin/time", ["-f", "%M", process.execPath, ...command], {
  env: {
    PATH: process.env["PATH"],
    PAYLINK_HOME: home,
    PAYLINK_BASE_URL: `http://127.0.0.1:${port}`,
    PAYLINK_TOKEN: "token",
    PAYLINK_TERMINAL_ID: "1234567890",
  },
  stdio: ["ignore", "pipe", "pipe"],
});
let [out, errors] = ["", ""];
child.stdout.on("data", (chunk) => (out += chunk));
child.stderr.on("data", (chunk) => (errors += chunk));
await new Promise((resolve) => child.once("close", resolve));
const seconds = (performance.now() - started) / 1000;
service.close();
service.closeAllConnections();
remove();
const { paid, agree, findings } = JSON.parse(out.trim().split("\n").at(-1) ?? "");
if (paid.count !== LINKS || agree.count !== LINKS - LOST || findings.missed.count !== LOST)
  throw new Error(`${JSON.stringify({ paid, agree, findings })} ${errors}`);
const what = `\`reconcile\` of ${LINKS.toLocaleString("en")} links and their webhooks`;
row(what, seconds, { most: 30, unit: "s", digits: 1 });
row(`memory of ${what}`, Number(errors.trim().split("\n").at(-1)) / 1024, {
  most: 200,
  unit: "MiB",
  digits: 0,
});
