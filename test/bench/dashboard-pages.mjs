/** The dashboard's lists with 100 and with 10,000 links, payments and deliveries: the time and the size of a page. */
import { join } from "node:path";
import { showProgress } from "./progress.mjs";
import { median, row } from "./row.mjs";

const FEW = 100;
const MANY = 10_000;
const PAGES = 120;
const CONCURRENCY = 16;
const BAR = 1.5;
const LISTS = ["deliveries", "payments", "links"];

/**
 * @typedef {object} Tools
 * @property {(args: string[]) => { ready: Promise<string>, dashboard: Promise<string>, stop: (signal: NodeJS.Signals) => Promise<void> }} start
 * @property {(url: string, headers: Record<string, string>, body: string) => Promise<{ text: string }>} post
 * @property {(extra: object) => string} linkRequest
 * @property {() => string} tokenOf
 * @property {string} binary
 * @property {string} home
 */

/** @param {Tools} tools */
export async function comparePages(tools) {
  const few = await filled(FEW, tools);
  const many = await filled(MANY, tools);
  const ratios = [];
  const growth = [];
  for (const list of LISTS) {
    /** @type {{ few: number[], many: number[] }} */
    const times = { few: [], many: [] };
    for (let page = 0; page < PAGES; page++) {
      times.few.push((await timed(few, list)).time);
      times.many.push((await timed(many, list)).time);
    }
    ratios.push(median(times.many) / median(times.few));
    growth.push((await timed(many, list)).size - (await timed(few, list)).size);
    process.stdout.write(
      `/${list}  ${median(times.few).toFixed(1)} ms with ${FEW}, ${median(times.many).toFixed(1)} ms with ${MANY}\n`,
    );
  }
  await Promise.all([few.stop("SIGKILL"), many.stop("SIGKILL")]);
  row(`the dashboard with ${MANY} rows against ${FEW}`, Math.max(...ratios), { most: BAR });
  // The counts in the header have more digits, and nothing else is longer.
  row("the same, bytes that its page is larger", Math.max(...growth), {
    most: 100,
    unit: "bytes",
    digits: 0,
  });
  if (Math.max(...ratios) > BAR) process.exitCode = 1;
}

/**
 * A sandbox with paid links. The webhooks fail, because their host is not allowed, and are listed first.
 * @param {number} count
 * @param {Tools} tools
 */
async function filled(count, { start, post, linkRequest, tokenOf, binary, home }) {
  const database = join(home, `${count}.db`);
  const sandbox = start([
    binary,
    "sandbox",
    "--port",
    "0",
    "--json",
    "--retry",
    "none",
    "--db",
    database,
    "--plain-host",
  ]);
  const url = await sandbox.ready;
  const headers = { authorization: `Bearer ${tokenOf()}`, "content-type": "application/json" };
  const callbackUrl = "http://receiver.invalid/paid";
  let left = count;
  const worker = async () => {
    while (left-- > 0) {
      if (left % 500 === 0) showProgress(`${count - left} of ${count} links paid`);
      // The number of a paid order cannot be used again.
      const body = linkRequest({ invoiceId: `INV-${left}`, paymentSettings: { callbackUrl } });
      const { text } = await post(`${url}v1/payment-links`, headers, body);
      await post(JSON.parse(text).url, { accept: "application/json" }, "outcome=approved");
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  showProgress("");
  const opened = await fetch(await sandbox.dashboard, { redirect: "manual" });
  const [cookie = ""] = (opened.headers.get("set-cookie") ?? "").split(";", 1);
  return { url, cookie, stop: sandbox.stop };
}

/**
 * @param {{ url: string, cookie: string }} dashboard
 * @param {string} list
 */
async function timed({ url, cookie }, list) {
  const address = `${url}${list}`;
  const started = process.hrtime.bigint();
  const reply = await fetch(address, { headers: { cookie } });
  const { byteLength } = await reply.arrayBuffer();
  if (reply.status !== 200) throw new Error(`${address} answered ${reply.status}`);
  return { time: Number(process.hrtime.bigint() - started) / 1e6, size: byteLength };
}
