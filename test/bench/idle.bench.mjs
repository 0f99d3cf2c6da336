/** Ten thousand idle and half-finished connections to listen, and their effect on honest senders (Linux). */
import { once } from "node:events";
import { connect } from "node:net";
import { createHome, residentMemory, startListen } from "./receivers.mjs";
import { load, newKey, webhook } from "./webhooks.mjs";

const OPENERS = 50;
const SENDERS = 4;
const BEGINNINGS = [
  "",
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Le",
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
];
const [count = "10000"] = process.argv.slice(2);

/** @type {Set<import("node:net").Socket>} */
const open = new Set();

/**
 * Opens connections and sends the beginning of a request on each; listen ends those beyond its limit.
 * @param {string} url
 * @param {number} total
 */
async function openIdle(url, total) {
  const { port, hostname } = new URL(url);
  let opened = 0;
  const opener = async () => {
    while (opened < total) {
      const beginning = BEGINNINGS[opened++ % BEGINNINGS.length] ?? "";
      const socket = connect(Number(port), hostname);
      socket.on("close", () => open.delete(socket)).on("error", () => undefined);
      await Promise.race([once(socket, "connect"), once(socket, "close")]);
      open.add(socket);
      socket.write(beginning);
    }
  };
  await Promise.all(Array.from({ length: OPENERS }, opener));
}

/**
 * Honest senders, each webhook on a new connection, until the signal.
 * @param {string} url
 * @param {import("node:crypto").KeyObject} privateKey
 * @param {AbortSignal} signal
 */
async function sendHonestly(url, privateKey, signal) {
  const counts = { answered: 0, failed: 0, slowest: 0 };
  const sender = async () => {
    while (!signal.aborted) {
      const requests = [webhook(url, privateKey)];
      let accepted = false;
      const { p99 } = await load(
        url,
        1,
        () => requests.pop(),
        (_, status) => (accepted = status === 200),
      );
      if (accepted) counts.answered += 1;
      else counts.failed += 1;
      counts.slowest = Math.max(counts.slowest, p99 ?? 0);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return counts;
}

const { privateKey, publicKey } = newKey();
const { home, remove } = createHome(publicKey);
const receiver = await startListen(home);
const stop = new AbortController();
const honest = sendHonestly(receiver.url, privateKey, stop.signal);
const half = Number(count) / 2;
await openIdle(receiver.url, half);
const first = residentMemory(receiver.pid);
await openIdle(receiver.url, half);
const last = residentMemory(receiver.pid);
stop.abort();
const { answered, failed, slowest } = await honest;
process.stdout.write(
  `${count} opened, ${open.size} still open; honest: ${answered} answered with 200, ${failed} failed, ${slowest.toFixed(0)} ms at most\n` +
    `${first.toFixed(0)} MiB after ${half}, ${last.toFixed(0)} MiB after ${count}: ${(last / first).toFixed(2)}\n`,
);
for (const socket of open) socket.destroy();
await receiver.stop("SIGINT");
if (failed > 0) process.exitCode = 1;
remove();
