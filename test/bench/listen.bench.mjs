// listen --json, verified and on disk before the answer, against the bare durable receiver, in turns on one machine.
import { load, newKey, webhook } from "./webhooks.mjs";
import { startFloor, startListen, workshop } from "./receivers.mjs";

const ROUNDS = 5;
const CONNECTIONS = 64;

async function listen([count = "20000"]) {
  const { privateKey, publicKey } = newKey();
  const { home, remove } = workshop(publicKey);
  const measure = async (start) => {
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
    if (refused > 0) throw new Error(`${refused} were not answered 200`);
    return result;
  };
  const ratios = [];
  process.stdout.write("round  floor/s  p99 ms  listen/s  p99 ms  ratio\n");
  for (let round = 1; round <= ROUNDS; round++) {
    const floor = await measure(startFloor);
    const ours = await measure(startListen);
    ratios.push(ours.perSecond / floor.perSecond);
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
  ratios.sort((a, b) => a - b);
  process.stdout.write(`median ratio ${ratios[ROUNDS >> 1].toFixed(2)} (bar: 0.70)\n`);
  remove();
}

await listen(process.argv.slice(2));
