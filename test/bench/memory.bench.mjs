// What listen holds after many webhooks, against what it held after the first ten thousand (Linux: /proc).
import { readFileSync } from "node:fs";
import { load, newKey, webhook } from "./webhooks.mjs";
import { row } from "./row.mjs";
import { startListen, workshop } from "./receivers.mjs";

const FIRST = 10_000;

async function memory([count = "1000000"]) {
  const { privateKey, publicKey } = newKey();
  const { home, remove } = workshop(publicKey);
  const receiver = await startListen(home);
  const post = async (total) => {
    let left = total;
    await load(
      receiver.url,
      64,
      () => (left-- > 0 ? webhook(receiver.url, privateKey) : undefined),
      () => undefined,
    );
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${receiver.pid}/status`, "utf8"))[1]) / 1024;
  };
  const first = await post(FIRST);
  const last = await post(Number(count) - FIRST);
  await receiver.stop("SIGINT");
  const what = `memory of \`listen\` after ${Number(count).toLocaleString("en")} webhooks, against after ${FIRST.toLocaleString("en")}`;
  row(what, last / first, { most: 1.2, note: `${last.toFixed(0)} MiB` });
  remove();
}

await memory(process.argv.slice(2));
