/**
 * The peak memory of listen under each attack, and the slowest honest webhook meanwhile (Linux).
 * One attack, for a shorter time: npm run bench -- attack chunks --seconds 8
 */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ATTACKS } from "./attacks.mjs";
import { showProgress } from "./progress.mjs";
import { createHome, peakMemory, startListen } from "./receivers.mjs";
import { row } from "./row.mjs";
import { newKey, webhook } from "./webhooks.mjs";

const { values, positionals } = parseArgs({
  options: { seconds: { type: "string", default: "60" } },
  allowPositionals: true,
});
const [only = ""] = positionals;
/** Milliseconds that a slow honest sender takes from its connection to its last byte. */
const SLOW = 800;
/** Milliseconds after which an honest webhook counts as not answered. */
const GIVE_UP = 10_000;

/**
 * Posts one webhook on a new connection, the last byte only after a while, and resolves with the milliseconds from its last
 * byte to its 200; infinite without one.
 * @param {string} url
 * @param {Buffer} bytes
 * @param {number} takes
 * @returns {Promise<number>}
 */
async function postHonestly(url, bytes, takes) {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  const reply = new Promise((resolve) => socket.once("data", resolve).once("close", resolve));
  if (takes > 0) {
    const half = bytes.length >> 1;
    await pause(takes / 2);
    socket.write(bytes.subarray(0, half));
    await pause(takes / 2);
    socket.write(bytes.subarray(half));
  } else socket.write(bytes);
  const sent = performance.now();
  const answer = String(await Promise.race([reply, pause(GIVE_UP)]));
  socket.destroy();
  return answer.startsWith("HTTP/1.1 200") ? performance.now() - sent : Infinity;
}

/**
 * @param {string} url
 * @param {import("node:crypto").KeyObject} privateKey
 * @param {number} until
 */
async function sendHonestly(url, privateKey, until) {
  /** @type {number[]} */
  const latencies = [];
  /** @param {number} takes */
  const lane = async (takes) => {
    while (performance.now() < until) {
      latencies.push(await postHonestly(url, webhook(url, privateKey).bytes, takes));
      await pause(50);
    }
  };
  await Promise.all([lane(0), lane(0), lane(SLOW), lane(SLOW)]);
  return latencies;
}

/** @param {string} attack */
async function measure(attack) {
  const { privateKey, publicKey } = newKey();
  const { home, remove } = createHome(publicKey);
  const receiver = await startListen(home);
  const attacker = spawn(process.execPath, [join(import.meta.dirname, "attacks.mjs"), attack, receiver.url], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  try {
    await pause(1000);
    const until = performance.now() + Number(values.seconds) * 1000;
    const latencies = await sendHonestly(receiver.url, privateKey, until);
    return { attack, peak: peakMemory(receiver.pid), latencies };
  } finally {
    attacker.kill("SIGKILL");
    await receiver.stop("SIGINT");
    remove();
  }
}

const measured = [];
const chosen = ATTACKS.filter((name) => name.includes(only));
for (const [index, attack] of chosen.entries()) {
  showProgress(`attack ${index + 1} of ${chosen.length}: ${attack}, ${values.seconds} s`);
  try {
    measured.push(await measure(attack));
  } catch (error) {
    // The others are still measured.
    process.stdout.write(`${attack}: ${String(error)}\n`);
    process.exitCode = 1;
  }
}
showProgress("");
for (const { attack, peak, latencies } of measured) {
  const answered = latencies.filter(Number.isFinite);
  const slowest = Math.max(...answered);
  row(`memory of \`listen\` under ${attack}`, peak, {
    most: 300,
    unit: "MiB",
    digits: 0,
    note: `${answered.length} of ${latencies.length} honest webhooks answered, each within ${slowest.toFixed(0)} ms`,
  });
  if (peak > 300 || answered.length < latencies.length) process.exitCode = 1;
}
