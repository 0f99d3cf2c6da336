/** The memory of listen after many webhooks, compared with its memory after the first ten thousand (Linux). */
import { createHome, residentMemory, startListen } from "./receivers.mjs";
import { showProgress } from "./progress.mjs";
import { row } from "./row.mjs";
import { load, newKey, webhook } from "./webhooks.mjs";

const FIRST = 10_000;
const [count = "1000000"] = process.argv.slice(2);

const { privateKey, publicKey } = newKey();
const { home, remove } = createHome(publicKey);
const receiver = await startListen(home);

/** @param {number} total */
async function post(total) {
  let left = total;
  await load(
    receiver.url,
    64,
    () => {
      if (left % 1000 === 0) showProgress(`${left} of ${total} webhooks left`);
      return left-- > 0 ? webhook(receiver.url, privateKey) : undefined;
    },
    () => undefined,
  );
  showProgress("");
  return residentMemory(receiver.pid);
}

const first = await post(FIRST);
const last = await post(Number(count) - FIRST);
await receiver.stop("SIGINT");
const what = `memory of \`listen\` after ${Number(count).toLocaleString("en")} webhooks against after ${FIRST.toLocaleString("en")}`;
row(what, last / first, { most: 1.2, note: `${last.toFixed(0)} MiB` });
remove();
