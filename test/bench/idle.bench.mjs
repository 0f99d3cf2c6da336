// Ten thousand idle and half-finished connections to listen, and what honest senders notice of them (Linux: /proc).
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { load, newKey, webhook } from "./webhooks.mjs";
import { startListen, workshop } from "./receivers.mjs";

const OPENERS = 50;
const SENDERS = 4;
const BEGINNINGS = [
  "",
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Le",
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
];

const held = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

/** Opens them and leaves each with its beginning said; those that are not let in end by an error. */
async function openIdle(url, count, open) {
  const { port, hostname } = new URL(url);
  let opened = 0;
  const opener = async () => {
    while (opened < count) {
      const beginning = BEGINNINGS[opened++ % BEGINNINGS.length];
      const socket = connect(Number(port), hostname);
      socket.on("close", () => open.delete(socket)).on("error", () => undefined);
      await Promise.race([once(socket, "connect"), once(socket, "close")]);
      open.add(socket);
      socket.write(beginning);
    }
  };
  await Promise.all(Array.from({ length: OPENERS }, opener));
}

/** Honest senders, each webhook over a connection of its own, until told to stop. */
async function sendHonestly(url, privateKey, until) {
  const counts = { answered: 0, failed: 0, slowest: 0 };
  const sender = async () => {
    while (!until.aborted) {
      const requests = [webhook(url, privateKey)];
      let status;
      const { p99 } = await load(
        url,
        1,
        () => requests.pop(),
        (_, answered) => (status = answered),
      );
      if (status === 200) counts.answered += 1;
      else counts.failed += 1;
      counts.slowest = Math.max(counts.slowest, p99 ?? 0);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return counts;
}

async function idle([count = "10000"]) {
  const { privateKey, publicKey } = newKey();
  const { home, remove } = workshop(publicKey);
  const receiver = await startListen(home);
  const stop = new AbortController();
  const honest = sendHonestly(receiver.url, privateKey, stop.signal);
  const open = new Set();
  const half = Number(count) / 2;
  await openIdle(receiver.url, half, open);
  const first = held(receiver.pid);
  await openIdle(receiver.url, half, open);
  const last = held(receiver.pid);
  stop.abort();
  const { answered, failed, slowest } = await honest;
  process.stdout.write(
    `${count} opened, ${open.size} still open; honest: ${answered} answered 200, ${failed} not, ${slowest.toFixed(0)} ms at most\n` +
      `${first.toFixed(0)} MiB after ${half}, ${last.toFixed(0)} MiB after ${count}: ${(last / first).toFixed(2)}\n`,
  );
  for (const socket of open) socket.destroy();
  await receiver.stop("SIGINT");
  if (failed > 0) process.exitCode = 1;
  remove();
}

await idle(process.argv.slice(2));
