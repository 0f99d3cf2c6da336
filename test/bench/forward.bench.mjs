/**
 * First attempts of `listen --ack stored` at an application that answers at once, against the same listener without a target:
 * the webhooks a second that have arrived when the last of them has.
 */
import { createServer } from "node:http";
import { createHome, startListen } from "./receivers.mjs";
import { median, row } from "./row.mjs";
import { load, newKey, webhook } from "./webhooks.mjs";

const ROUNDS = 3;
const [count = "5000"] = process.argv.slice(2);
const { privateKey, publicKey } = newKey();

const arrivals = { count: 0 };
const app = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    arrivals.count += 1;
    response.end();
  });
});
await new Promise((done) => app.listen(0, "127.0.0.1", () => done(undefined)));
const address = app.address();
if (address === null || typeof address === "string") throw new Error("the application has no port");
const target = `http://127.0.0.1:${address.port}/`;

/**
 * @param {readonly string[]} flags
 * @param {boolean} isForwarded
 */
async function measure(flags, isForwarded) {
  const { home, remove } = createHome(publicKey);
  const receiver = await startListen(home, "--tolerance", "1h", ...flags);
  const requests = Array.from({ length: Number(count) }, () => webhook(receiver.url, privateKey));
  arrivals.count = 0;
  const started = performance.now();
  await load(
    receiver.url,
    64,
    () => requests.pop(),
    () => undefined,
  );
  if (isForwarded) while (arrivals.count < Number(count)) await new Promise((done) => setTimeout(done, 5));
  const seconds = (performance.now() - started) / 1000;
  await receiver.stop("SIGKILL");
  remove();
  return Number(count) / seconds;
}

/** @type {number[]} */
const ratios = [];
let rate = 0;
for (let round = 0; round < ROUNDS; round++) {
  const alone = await measure([], false);
  rate = await measure(["--forward-to", target, "--ack", "stored"], true);
  ratios.push(rate / alone);
}
app.close();
app.closeAllConnections();
row("first attempts forwarded, against the same without forwarding", median(ratios), {
  least: 0.4,
  note: `${rate.toFixed(0)} a second`,
});
