/** Kills listen repeatedly under load, restarts it on the same events, and counts acknowledged webhooks that are lost. */
import { execFileSync } from "node:child_process";
import { showProgress } from "./progress.mjs";
import { BINARY, createHome, startListen } from "./receivers.mjs";
import { row } from "./row.mjs";
import { load, newKey, webhook } from "./webhooks.mjs";

const CONNECTIONS = 64;
const [rounds = "50"] = process.argv.slice(2);

const { privateKey, publicKey } = newKey();
const { home, remove } = createHome(publicKey);
/** @type {Set<string>} */
const acknowledged = new Set();
for (let round = 1; round <= Number(rounds); round++) {
  showProgress(`kill ${round} of ${rounds}`);
  const receiver = await startListen(home);
  const requests = Array.from({ length: 400 }, () => webhook(receiver.url, privateKey));
  const killAfter = 20 + ((round * 37) % 300);
  let answers = 0;
  await load(
    receiver.url,
    CONNECTIONS,
    () => requests.pop(),
    (uti, status) => {
      if (status === 200) acknowledged.add(uti);
      if (++answers === killAfter) void receiver.stop("SIGKILL");
    },
  );
  await receiver.stop("SIGKILL");
}
showProgress("");

const env = { ...process.env, PAYLINK_HOME: home };
const exported = execFileSync(process.execPath, [BINARY, "events", "list", "--all", "--json"], {
  env,
  maxBuffer: 2 ** 30,
});
/** @type {string[]} */
const utis = exported
  .toString()
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line).record.uti);
const stored = new Set(utis);
const lost = [...acknowledged].filter((uti) => !stored.has(uti)).length;
process.stdout.write(`${utis.length - stored.size} stored twice\n`);
const what = `acknowledged webhooks lost over ${rounds} kills under load`;
row(what, lost, { most: 0, unit: "", digits: 0, note: `of ${acknowledged.size}` });
if (lost > 0 || utis.length > stored.size) process.exitCode = 1;
remove();
