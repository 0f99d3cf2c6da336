/**
 * Two receivers on one PostgreSQL, under load with each webhook delivered to both: kills a receiver or the server in each
 * round, delivers again what was not acknowledged, and counts what is lost or stored twice.
 */
import { setTimeout as pause } from "node:timers/promises";
import { startPostgresServer } from "../support/postgres-server.mjs";
import { createHome, startListen } from "./receivers.mjs";
import { row } from "./row.mjs";
import { load, newKey, payment, webhook } from "./webhooks.mjs";

const CONNECTIONS = 16;
const WEBHOOKS = 200;
/** How often what was not acknowledged is delivered again, and the milliseconds between. */
const DELIVERIES = 100;
const WAIT = 200;
const [receiverKills = "50", serverKills = "5"] = process.argv.slice(2);

const { privateKey, publicKey } = newKey();
const server = await startPostgresServer({ fsync: true });
const database = await server.createDatabase();
const homes = [createHome(publicKey), createHome(publicKey)];
const start = (/** @type {number} */ index) => startListen(homes[index]?.home ?? "", "--db", database);
const receivers = await Promise.all([start(0), start(1)]);
/** @type {Set<string>} */
const acknowledged = new Set();

/**
 * Delivers every payment to every receiver, each in another order, and calls `answered` after each answer.
 * @param {readonly ReturnType<typeof payment>[]} payments
 * @param {() => void} answered
 */
const deliver = (payments, answered) =>
  Promise.all(
    receivers.map((receiver, index) => {
      const ordered = index === 0 ? [...payments] : payments.toReversed();
      return load(
        receiver.url,
        CONNECTIONS,
        () => {
          const next = ordered.pop();
          return next && webhook(receiver.url, privateKey, next);
        },
        (uti, status) => {
          if (status === 200) acknowledged.add(uti);
          answered();
        },
      );
    }),
  );

const kills = [
  ...Array.from({ length: Number(receiverKills) }, (_, round) => round % 2),
  ...Array.from({ length: Number(serverKills) }, () => "server"),
];
let unacknowledged = 0;
for (const [round, victim] of kills.entries()) {
  const payments = Array.from({ length: WEBHOOKS }, payment);
  const killAfter = 20 + ((round * 37) % 250);
  let answers = 0;
  /** @type {Promise<unknown> | undefined} */
  let killed;
  await deliver(payments, () => {
    if (++answers !== killAfter) return;
    killed =
      typeof victim === "number"
        ? receivers[victim]?.stop("SIGKILL")
        : server.stop("SIGKILL").then(server.start);
  });
  await killed;
  if (typeof victim === "number") receivers[victim] = await start(victim);
  for (let delivery = 0; delivery < DELIVERIES; delivery++) {
    const left = payments.filter(({ uti }) => !acknowledged.has(uti));
    if (left.length === 0) break;
    if (delivery > 0) await pause(WAIT);
    await deliver(left, () => undefined);
  }
  unacknowledged += payments.filter(({ uti }) => !acknowledged.has(uti)).length;
}
await Promise.all(receivers.map((receiver) => receiver.stop("SIGKILL")));

const stored = await server.query(
  "SELECT uti, count(*)::integer AS times FROM paylink.events GROUP BY uti",
  new URL(database).pathname.slice(1),
);
await server.remove();
for (const { remove } of homes) remove();
const twice = stored.filter(({ times }) => times > 1).length;
const utis = new Set(stored.map(({ uti }) => uti));
const lost = [...acknowledged].filter((uti) => !utis.has(uti)).length;
process.stdout.write(`${twice} stored twice, ${unacknowledged} not acknowledged in the end\n`);
const what = `acknowledged webhooks lost by two receivers on PostgreSQL over ${receiverKills} kills of receivers and ${serverKills} of the server`;
row(what, lost, { most: 0, unit: "", digits: 0, note: `of ${acknowledged.size}` });
if (lost > 0 || twice > 0 || unacknowledged > 0 || acknowledged.size === 0) process.exitCode = 1;
