/** Kills listen repeatedly under load, restarts it on the same events, and counts acknowledged webhooks that are lost. */
import { execFileSync } from "node:child_process";
import { measureKills, startReceivers } from "./kills.mjs";
import { BINARY } from "./receivers.mjs";

const [rounds = "50"] = process.argv.slice(2);
const receivers = await startReceivers(1);

const storedUtis = async () => {
  const env = { ...process.env, PAYLINK_HOME: receivers.homes[0] };
  const args = [BINARY, "events", "list", "--all", "--json"];
  const lines = execFileSync(process.execPath, args, { env, maxBuffer: 2 ** 30 })
    .toString()
    .trim()
    .split("\n");
  return lines.map((line) => String(JSON.parse(line).record.uti));
};

await measureKills({
  what: `webhooks lost in ${rounds} kills of \`listen\` on SQLite`,
  rounds: Number(rounds),
  webhooks: 400,
  connections: 64,
  receivers,
  toEach: false,
  kill: () => receivers.kill(0),
  stored: storedUtis,
});
receivers.remove();
