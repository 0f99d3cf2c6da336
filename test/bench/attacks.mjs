/** Attacks on `listen`, one in each process: `node attacks.mjs <name> <url>` runs it until the process is killed. */
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const BODY = Buffer.alloc(1024 * 1024, 0x20);
/** @type {readonly string[]} */
const UNSIGNED = [];
const SIGNED_LOOKING = [
  `Content-Digest: sha-256=:${"A".repeat(43)}=:`,
  'Signature-Input: sig1=("content-digest")',
  `Signature: sig1=:${"A".repeat(342)}==:`,
];
/** The wire form of 16 KiB of body, one byte in each chunk. */
const TINY_CHUNKS = Buffer.from("1\r\n \r\n".repeat(16 * 1024));

/** @type {Readonly<Record<string, (url: string) => void>>} */
const attacks = {
  "4 connections posting unsigned 1 MB bodies": (url) => repeat(4, () => postBodies(url, UNSIGNED)),
  "60 connections posting unsigned 1 MB bodies": (url) => repeat(60, () => postBodies(url, UNSIGNED)),
  "60 connections posting signed-looking 1 MB bodies": (url) =>
    repeat(60, () => postBodies(url, SIGNED_LOOKING)),
  "60 connections sending one-byte chunks": (url) => repeat(60, () => sendTinyChunks(url)),
  "10,000 idle connections": (url) => repeat(10_000, () => stayIdle(url), 5000),
  "3,000 connections that send one byte each": (url) => repeat(3000, () => sendOneByte(url)),
  "10,000 connections that send one byte each": (url) => repeat(10_000, () => sendOneByte(url), 5000),
  "2,000 half-open connections after a malformed request": (url) => repeat(2000, () => stayHalfOpen(url)),
  "2,000 connections with slow bodies": (url) => repeat(2_000, () => sendBodySlowly(url)),
  "2,000 new idle connections a second": (url) => void openEverySecond(url, 2_000),
  "2,000 connections with slow headers": (url) => repeat(2_000, () => sendHeadersSlowly(url)),
};

export const ATTACKS = Object.keys(attacks);

/**
 * Runs as many at once, and each again a while after its connection has ended.
 * @param {number} count
 * @param {() => Promise<void>} attack
 * @param {number} wait Milliseconds.
 */
function repeat(count, attack, wait = 10) {
  const lane = async () => {
    for (;;) {
      await attack();
      await pause(wait);
    }
  };
  for (let index = 0; index < count; index++) void lane();
}

/**
 * @param {string} url
 * @returns {{ socket: import("node:net").Socket, closed: Promise<void> }}
 */
function open(url) {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  return { socket, closed: new Promise((resolve) => socket.once("close", () => resolve())) };
}

/**
 * @param {string} url
 * @param {readonly string[]} lines
 */
const head = (url, lines) =>
  ["POST / HTTP/1.1", `Host: ${new URL(url).host}`, "Content-Type: application/json", ...lines, "", ""].join(
    "\r\n",
  );

/**
 * Posts one body after the other on a connection.
 * @param {string} url
 * @param {readonly string[]} lines
 */
function postBodies(url, lines) {
  const { socket, closed } = open(url);
  const post = () => {
    socket.write(head(url, [...lines, `Content-Length: ${BODY.length}`]));
    socket.write(BODY);
  };
  socket.on("connect", post).on("data", post);
  return closed;
}

/** @param {string} url */
function sendTinyChunks(url) {
  const { socket, closed } = open(url);
  const send = () => {
    while (socket.writable && socket.write(TINY_CHUNKS));
  };
  socket.write(head(url, [...SIGNED_LOOKING, "Transfer-Encoding: chunked"]));
  socket.on("connect", send).on("drain", send).resume();
  return closed;
}

/** @param {string} url */
function stayIdle(url) {
  const { socket, closed } = open(url);
  socket.resume();
  return closed;
}

/** @param {string} url */
function sendOneByte(url) {
  const { socket, closed } = open(url);
  socket.resume().write("P");
  return closed;
}

/**
 * Does not close its side after the answer.
 * @param {string} url
 */
function stayHalfOpen(url) {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.on("error", () => undefined).resume();
  socket.write("NONSENSE\r\n\r\n");
  return new Promise((resolve) => socket.once("close", () => resolve(undefined)));
}

/** @param {string} url */
function sendBodySlowly(url) {
  const { socket, closed } = open(url);
  socket.write(head(url, [...SIGNED_LOOKING, "Content-Length: 1000"]));
  const timer = setInterval(() => socket.write(" "), 500);
  socket.on("close", () => clearInterval(timer)).resume();
  return closed;
}

/**
 * @param {string} url
 * @param {number} rate
 */
async function openEverySecond(url, rate) {
  const started = performance.now();
  for (let opened = 0; ;) {
    const due = ((performance.now() - started) / 1000) * rate;
    for (; opened < due; opened++) void stayIdle(url);
    await pause(5);
  }
}

/** @param {string} url */
function sendHeadersSlowly(url) {
  const { socket, closed } = open(url);
  socket.write(`POST / HTTP/1.1\r\nX-Filler: ${"x".repeat(12_000)}\r\nX-Slow: `);
  const timer = setInterval(() => socket.write("x"), 500);
  socket.on("close", () => clearInterval(timer)).resume();
  return closed;
}

const [name, url] = process.argv.slice(2);
if (import.meta.filename === process.argv[1] && name !== undefined && url !== undefined) attacks[name]?.(url);
