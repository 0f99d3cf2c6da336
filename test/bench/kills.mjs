/** What the kill benches share: webhooks under load, a kill in each round, and the row that counts what was lost. */
import { setTimeout as pause } from "node:timers/promises";
import { showProgress } from "./progress.mjs";
import { createHome, startListen } from "./receivers.mjs";
import { row } from "./row.mjs";
import { load, newKey, payment, webhook } from "./webhooks.mjs";

/** How often what was not acknowledged is delivered again, and the milliseconds between. */
const DELIVERIES = 200;
const WAIT = 100;

/**
 * Receivers that can be killed, and started again in the same home.
 * @param {number} count
 * @param {readonly string[]} flags
 */
export async function startReceivers(count, ...flags) {
  const { privateKey, publicKey } = newKey();
  const homes = Array.from({ length: count }, () => createHome(publicKey));
  const start = (/** @type {number} */ index) => startListen(homes[index]?.home ?? "", ...flags);
  const running = await Promise.all(homes.map((_, index) => start(index)));
  return {
    running,
    privateKey,
    homes: homes.map(({ home }) => home),
    /** @param {number} index */
    kill: async (index) => {
      await running[index]?.stop("SIGKILL");
      running[index] = await start(index);
    },
    stop: async () => void (await Promise.all(running.map((receiver) => receiver.stop("SIGKILL")))),
    remove: () => homes.forEach(({ remove }) => remove()),
  };
}

/**
 * @typedef {object} Bench
 * @property {string} what The row.
 * @property {number} rounds
 * @property {number} webhooks In each round.
 * @property {number} connections To each receiver.
 * @property {Awaited<ReturnType<typeof startReceivers>>} receivers
 * @property {boolean} toEach Each webhook goes to every receiver, in another order; else to one of them.
 * @property {(round: number) => Promise<unknown>} kill Kills something, and starts it again.
 * @property {() => Promise<readonly string[]>} stored The utis of what was stored, asked for when the receivers are dead.
 * @property {boolean} [mayRepeat] To store a webhook twice is no failure.
 */

/**
 * In each round something is killed under load, and what was not acknowledged is delivered again.
 * @param {Bench} bench
 */
export async function measureKills({
  what,
  rounds,
  webhooks,
  connections,
  receivers,
  toEach,
  kill,
  stored,
  mayRepeat,
}) {
  const { running, privateKey } = receivers;
  /** @type {Set<string>} */
  const acknowledged = new Set();
  /**
   * @param {readonly ReturnType<typeof payment>[]} payments
   * @param {() => void} answered
   */
  const deliver = (payments, answered) => {
    const shared = [...payments];
    return Promise.all(
      running.map(({ url }, index) => {
        const own = !toEach ? shared : index % 2 === 0 ? [...payments] : payments.toReversed();
        const next = () => {
          const one = own.pop();
          return one && webhook(url, privateKey, one);
        };
        return load(url, connections, next, (uti, status) => {
          if (status === 200) acknowledged.add(uti);
          answered();
        });
      }),
    );
  };
  let unacknowledged = 0;
  for (let round = 0; round < rounds; round++) {
    showProgress(`kill ${round + 1} of ${rounds}`);
    const payments = Array.from({ length: webhooks }, () => payment());
    const left = () => payments.filter(({ uti }) => !acknowledged.has(uti));
    const killAfter = 20 + ((round * 37) % (webhooks - 50));
    let answers = 0;
    /** @type {Promise<unknown> | undefined} */
    let killed;
    await deliver(payments, () => {
      if (++answers === killAfter) killed = kill(round);
    });
    await killed;
    for (let delivery = 0; delivery < DELIVERIES && left().length > 0; delivery++) {
      if (delivery > 0) await pause(WAIT);
      await deliver(left(), () => undefined);
    }
    unacknowledged += left().length;
  }
  showProgress("");
  await receivers.stop();
  const utis = await stored();
  const kept = new Set(utis);
  const twice = utis.length - kept.size;
  process.stdout.write(`${twice} stored twice, ${unacknowledged} not acknowledged in the end\n`);
  const lost = [...acknowledged].filter((uti) => !kept.has(uti)).length;
  rowOfLost(what, lost, `of ${acknowledged.size}`);
  if ((twice > 0 && mayRepeat !== true) || unacknowledged > 0 || acknowledged.size === 0)
    process.exitCode = 1;
}

/**
 * @param {string} what
 * @param {number} lost
 * @param {string} note
 */
export function rowOfLost(what, lost, note) {
  row(what, lost, { most: 0, unit: "", digits: 0, note });
  if (lost > 0) process.exitCode = 1;
}
