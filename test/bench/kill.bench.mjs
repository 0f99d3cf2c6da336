// Kills listen in the middle of a load, starts it again on the same events, and counts what was acknowledged and is gone.
import { execFileSync } from "node:child_process";
import { load, newKey, webhook } from "./webhooks.mjs";
import { row } from "./row.mjs";
import { BINARY, startListen, workshop } from "./receivers.mjs";

const CONNECTIONS = 64;

async function kill([rounds = "50"]) {
  const { privateKey, publicKey } = newKey();
  const { home, remove } = workshop(publicKey);
  const acknowledged = new Set();
  for (let round = 1; round <= Number(rounds); round++) {
    const receiver = await startListen(home);
    const requests = Array.from({ length: 400 }, () => webhook(receiver.url, privateKey));
    const after = 20 + ((round * 37) % 300);
    let answers = 0;
    await load(
      receiver.url,
      CONNECTIONS,
      () => requests.pop(),
      (uti, status) => {
        if (status === 200) acknowledged.add(uti);
        if (++answers === after) void receiver.stop("SIGKILL");
      },
    );
    await receiver.stop("SIGKILL");
  }
  const env = { ...process.env, PAYLINK_HOME: home };
  const exported = execFileSync(process.execPath, [BINARY, "events", "export"], { env, maxBuffer: 2 ** 30 });
  const utis = exported
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).record.uti);
  const kept = new Set(utis);
  const missing = [...acknowledged].filter((uti) => !kept.has(uti)).length;
  process.stdout.write(`${utis.length - kept.size} twice\n`);
  const what = `acknowledged webhooks lost over ${rounds} kills under load`;
  row(what, missing, { most: 0, unit: "", digits: 0, note: `of ${acknowledged.size}` });
  if (missing > 0 || utis.length > kept.size) process.exitCode = 1;
  remove();
}

await kill(process.argv.slice(2));
