/** Makes the pictures of the README from real runs: `npm run pictures`. The ports 4000 and 4010 must be free. */
import { createServer } from "node:http";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";
import { runInTerminal, terminalPicture } from "./terminal.mjs";

const IMAGES = resolve(import.meta.dirname, "../../.github/images");
const MOST_BYTES = 300_000;
/** Lines of the receiver in the first picture. */
const LOOP_LINES = 20;

const home = mkdtempSync(join(tmpdir(), "paylink-pictures-"));
const env = {
  PATH: process.env["PATH"] ?? "",
  TERM: "xterm-256color",
  TZ: "UTC",
  HOME: home,
  PAYLINK_HOME: home,
};
process.chdir(home);

/** The pages show the name of the store as the flag spells it. */
const STORE = ["--db", "events.db"];

/** @param {string[]} args */
const paylink = (...args) => runInTerminal(args, env);

/**
 * @param {string} name
 * @param {string | Uint8Array} content
 */
function keep(name, content) {
  const file = join(IMAGES, name);
  writeFileSync(file, content);
  const { size } = statSync(file);
  process.stdout.write(`${name}  ${Math.ceil(size / 1000)} KB\n`);
  if (size > MOST_BYTES) throw new Error(`${name} is larger than ${MOST_BYTES / 1000} KB`);
}

/** @param {string[]} flags */
async function create(...flags) {
  const run = paylink("create", "--currency", "EUR", ...flags);
  const [url = "", id = ""] = await run.until(/http:\S+\?r=([\w-]+)/);
  await run.ended();
  return { url, id };
}

/**
 * An application that fails for some orders and accepts the others.
 * @param {...string} orders
 */
async function openApplication(...orders) {
  const server = createServer((request, reply) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      const isFailed = orders.some((order) => body.includes(`"${order}"`));
      reply.writeHead(isFailed ? 500 : 200, { "Content-Type": "text/plain" });
      reply.end(isFailed ? "the warehouse does not answer" : "");
    });
  });
  await new Promise((done) => void server.listen(0, "127.0.0.1", () => done(undefined)));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the application has no port");
  return { server, port: address.port };
}

/**
 * @param {string} dashboard
 * @param {string} inspector
 */
async function photographPages(dashboard, inspector) {
  const browser = await playwright.launch({
    executablePath: process.env["PAYLINK_CHROMIUM"] ?? (await chromium.executablePath()),
    headless: true,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const context = await browser.newContext({
      viewport: { width: 1120, height: 720 },
      deviceScaleFactor: 1.25,
    });
    const page = await context.newPage();
    const { url } = await create(
      "--amount",
      "49.90",
      "--invoice-id",
      "A-1007",
      "--description",
      "Two novels and an atlas",
    );
    await page.goto(url);
    keep("checkout.png", await page.screenshot());
    await page.goto(new URL(`/deliveries${new URL(dashboard).search}`, dashboard).href);
    await page.getByText("Connected", { exact: true }).waitFor();
    keep("dashboard.png", await page.screenshot());

    await page.goto(inspector);
    await page.getByRole("link", { name: "A-1003", exact: true }).waitFor();
    await page.getByText("Connected", { exact: true }).waitFor();
    keep("inspect-events.png", await page.screenshot());
    await page.getByRole("link", { name: "A-1003", exact: true }).click();
    await page.getByText("Your application refused it").waitFor();
    keep("inspect-event.png", await page.screenshot());
    await page.goto(new URL("/queue", inspector).href);
    await page.getByText("answers 500: 2 wait").waitFor();
    keep("inspect-queue.png", await page.screenshot());
  } finally {
    await browser.close();
  }
}

const sandbox = paylink("sandbox");
try {
  const [, dashboard = ""] = await sandbox.until(/Dashboard +(\S+)/);
  const first = paylink("listen");
  await first.until(/Listening on/);
  const order = [
    "--amount",
    "49.90",
    "--currency",
    "EUR",
    "--invoice-id",
    "A-1001",
    "--customer-name",
    "Ada Lovelace",
  ];
  const created = paylink("create", ...order);
  const [, id = ""] = await created.until(/\?r=([\w-]+)/);
  const lines = await created.ended();
  const paid = await paylink("pay", id).ended();
  await first.until(/A-1001/);
  const record = first.lines();
  keep(
    "loop.svg",
    terminalPicture([
      { title: "you, and the customer", lines: [...lines, [], ...paid] },
      { title: "your receiver", lines: record.slice(0, LOOP_LINES) },
    ]),
  );

  await first.stop();
  const application = await openApplication("A-1003", "A-1006");
  const forwarding = ["--ack", "stored", "--forward-to", String(application.port), "--retry", "1s,10m"];
  const listen = paylink("listen", ...STORE, ...forwarding);
  await listen.until(/Listening on/);
  for (const [outcome, ...flags] of [
    ["approved", "--amount", "12.50", "--invoice-id", "A-1002", "--customer-name", "Grace Hopper"],
    ["approved", "--amount", "230", "--invoice-id", "A-1003", "--customer-name", "Alan Turing"],
    ["declined", "--amount", "18", "--invoice-id", "A-1004", "--customer-name", "Mary Somerville"],
    ["cancelled", "--amount", "64.20", "--invoice-id", "A-1005", "--customer-name", "Charles Babbage"],
    ["approved", "--amount", "99", "--invoice-id", "A-1006", "--customer-name", "Emmy Noether"],
  ]) {
    const link = await create(...flags);
    await paylink("pay", link.id, "--outcome", outcome ?? "approved").ended();
  }
  await paylink("trigger", "approved", "--to", "4000", "--tamper", "body").ended();
  const inspect = paylink("inspect", ...STORE, "--no-open");
  const [, inspector = ""] = await inspect.until(/paylink inspect on (\S+)/);
  await photographPages(dashboard, inspector);
  await inspect.stop();
  application.server.close();
  await listen.stop();
} finally {
  await sandbox.stop();
  rmSync(home, { recursive: true });
}
