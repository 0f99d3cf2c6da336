// listen --json, verified and on disk before the answer, against the bare durable receiver, in turns on one machine.
import { load, newKey, webhook } from "./webhooks.mjs";
import { row } from "./row.mjs";
import { startFloor, startListen, workshop } from "./receivers.mjs";

const ROUNDS = 5;
const CONNECTIONS = 64;

async function listen([count = "20000"]) {
  const { privateKey, publicKey } = newKey();
  // Each begins with nothing kept: the rounds are to be alike.
  const measure = async (start) => {
    const { home, remove } = workshop(publicKey);
    const receiver = await start(home);
    const requests = Array.from({ length: Number(count) }, () => webhook(receiver.url, privateKey));
    let refused = 0;
    const result = await load(
      receiver.url,
      CONNECTIONS,
      () => requests.pop(),
      (_, status) => {
        if (status !== 200) refused += 1;
      },
    );
    await receiver.stop("SIGINT");
    remove();
    if (refused > 0) throw new Error(`${refused} were not answered 200`);
    return result;
  };
  const [ratios, rates] = [[], []];
  process.stdout.write("round  floor/s  p99 ms  listen/s  p99 ms  ratio\n");
  for (let round = 1; round <= ROUNDS; round++) {
    const floor = await measure(startFloor);
    const ours = await measure(startListen);
    ratios.push(ours.perSecond / floor.perSecond);
    rates.push(ours.perSecond);
    const cells = [
      round,
      floor.perSecond,
      floor.p99.toFixed(1),
      ours.perSecond,
      ours.p99.toFixed(1),
      ratios.at(-1).toFixed(2),
    ];
    process.stdout.write(
      `${cells.map((cell, column) => String(cell).padStart([5, 7, 6, 8, 6, 5][column])).join("  ")}\n`,
    );
  }
  const median = (values) => values.toSorted((a, b) => a - b)[ROUNDS >> 1];
  const what = "`listen --json`, verified and on disk before the answer, against a bare durable receiver";
  row(what, median(ratios), { least: 0.7, note: `${Math.round(median(rates))} webhooks a second` });
}

await listen(process.argv.slice(2));
