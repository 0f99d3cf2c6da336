/** listen --json, which verifies and writes to disk before it answers, alternating with the bare durable receiver. */
import { createHome, startFloor, startListen } from "./receivers.mjs";
import { median, row } from "./row.mjs";
import { load, newKey, webhook } from "./webhooks.mjs";

const ROUNDS = 5;
const CONNECTIONS = 64;
const [count = "20000"] = process.argv.slice(2);

const { privateKey, publicKey } = newKey();

/**
 * One round in a new folder, so that every round starts alike.
 * @param {typeof startListen} start
 */
async function measure(start) {
  const { home, remove } = createHome(publicKey);
  const receiver = await start(home);
  const requests = Array.from({ length: Number(count) }, () => webhook(receiver.url, privateKey));
  let refused = 0;
  const { perSecond, p99 } = await load(
    receiver.url,
    CONNECTIONS,
    () => requests.pop(),
    (_, status) => {
      if (status !== 200) refused += 1;
    },
  );
  await receiver.stop("SIGINT");
  remove();
  if (refused > 0) throw new Error(`${refused} webhooks were not answered with 200`);
  if (p99 === undefined) throw new Error("no webhook was answered");
  return { perSecond, p99 };
}

/** @type {number[]} */
const ratios = [];
/** @type {number[]} */
const rates = [];
process.stdout.write("round  floor/s  p99 ms  listen/s  p99 ms  ratio\n");
for (let round = 1; round <= ROUNDS; round++) {
  const floor = await measure(startFloor);
  const ours = await measure(startListen);
  const ratio = ours.perSecond / floor.perSecond;
  ratios.push(ratio);
  rates.push(ours.perSecond);
  const cells = [
    String(round).padStart(5),
    String(floor.perSecond).padStart(7),
    floor.p99.toFixed(1).padStart(6),
    String(ours.perSecond).padStart(8),
    ours.p99.toFixed(1).padStart(6),
    ratio.toFixed(2).padStart(5),
  ];
  process.stdout.write(`${cells.join("  ")}\n`);
}
const what = "`listen --json`, verified and on disk before the answer, against a bare durable receiver";
row(what, median(ratios), { note: `${Math.round(median(rates))} webhooks a second` });
