/** A load generator: signed webhooks, each with its own record, over kept-alive connections to this machine. */
import { createHash, generateKeyPairSync, randomBytes, randomUUID, sign } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export const newKey = () => generateKeyPairSync("rsa", { modulusLength: 2048 });

const TYPE = "application/json; charset=utf-8";

/**
 * @param {string} uti
 * @param {string} reference
 */
const record = (uti, reference) => ({
  uti,
  transType: "SALE",
  transApproved: true,
  transPartiallyApproved: false,
  transCancelled: false,
  amountTrans: 12.34,
  amountGratuity: 0,
  amountCashback: 0,
  cvmSignatureRequired: false,
  cvmPinVerified: false,
  transCurrencyCode: "EUR",
  terminalId: "1234567890",
  merchantId: "000000000012345",
  softwareVersion: "1.0.0",
  receiptNumber: "000001",
  retrievalReferenceNumber: "632500000001",
  paymentId: randomUUID(),
  responseCode: "00",
  stan: "000001",
  authorisationCode: "654321",
  merchantTokenId: randomUUID(),
  cardPan: "************4242",
  cardStartDate: "2501",
  cardScheme: "MASTERCARD",
  cardPanSequenceNumber: "01",
  cardType: "EMV",
  emvAid: "A0000000041010",
  emvTsi: "E800",
  emvTvr: "0000008000",
  emvCryptogram: "",
  emvCryptogramType: "ARQC",
  reference,
  merchantName: "Bench Shop",
  transDateTime: new Date().toISOString(),
  createdDateTime: new Date().toISOString(),
  merchantStoreId: 1,
  status: "Complete",
});

/**
 * @typedef {object} Webhook
 * @property {string} uti
 * @property {Buffer} bytes The whole request, as it goes over the wire.
 */

/** The body of a webhook, which may be delivered to several receivers. */
export function payment(reference = `BENCH-${randomBytes(5).toString("hex").slice(0, 9).toUpperCase()}`) {
  const uti = randomUUID();
  return { uti, body: Buffer.from(JSON.stringify(record(uti, reference))) };
}

/**
 * @param {string} url
 * @param {import("node:crypto").KeyObject} privateKey
 * @returns {Webhook}
 */
export function webhook(url, privateKey, { uti, body } = payment()) {
  const { host, pathname, href } = new URL(url);
  const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
  const params = `("@method" "@target-uri" "content-digest" "content-type");created=${Math.floor(Date.now() / 1000)};alg="rsa-v1_5-sha256"`;
  const base = [
    '"@method": POST',
    `"@target-uri": ${href}`,
    `"content-digest": ${digest}`,
    `"content-type": ${TYPE}`,
    `"@signature-params": ${params}`,
  ].join("\n");
  const lines = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    "Accept: application/json",
    `Content-Type: ${TYPE}`,
    `Content-Digest: ${digest}`,
    `Content-Length: ${body.length}`,
    `Signature-Input: sig1=${params}`,
    `Signature: sig1=:${sign("sha256", Buffer.from(base), privateKey).toString("base64")}:`,
  ];
  return { uti, bytes: Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]) };
}

/**
 * Posts the webhooks that `next` returns until it returns undefined, and calls `answered` with the status of each. A
 * broken connection is not opened again.
 * @param {string} url
 * @param {number} connections
 * @param {() => Webhook | undefined} next
 * @param {(uti: string, status: number) => void} answered
 */
export async function load(url, connections, next, answered) {
  const { port, hostname } = new URL(url);
  /** @type {number[]} */
  const latencies = [];
  /** @returns {Promise<void>} */
  const lane = () =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname);
      let current = next();
      let sent = 0;
      let reply = "";
      const post = () => {
        if (current === undefined) return void socket.end();
        sent = performance.now();
        socket.write(current.bytes);
      };
      socket.on("connect", post);
      socket.on("data", (chunk) => {
        reply += chunk.toString("latin1");
        if (current === undefined || !reply.includes("\r\n\r\n")) return;
        latencies.push(performance.now() - sent);
        answered(current.uti, Number(reply.slice(9, 12)));
        reply = "";
        current = next();
        post();
      });
      socket.on("error", () => undefined);
      socket.on("close", () => resolve());
    });
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, lane));
  const seconds = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  return {
    perSecond: Math.round(latencies.length / seconds),
    p99: quantile(latencies, 0.99),
  };
}

/**
 * Posts all of these webhooks. Throws if one is not answered with 200.
 * @param {string} url
 * @param {number} connections
 * @param {readonly Webhook[]} list
 */
export async function loadAll(url, connections, list) {
  let next = 0;
  let refused = 0;
  const measured = await load(
    url,
    connections,
    () => list[next++],
    (_, status) => {
      if (status !== 200) refused += 1;
    },
  );
  if (refused > 0) throw new Error(`${refused} webhooks were not answered with 200`);
  return measured;
}

/**
 * Posts each webhook at its time, so many a second, however long the answers take, and resolves with the milliseconds that each
 * waited for its answer, in ascending order. Throws for an answer that is not 200.
 * @param {string} url
 * @param {readonly Webhook[]} list
 * @param {number} perSecond
 */
export async function openLoad(url, list, perSecond) {
  const { port, hostname } = new URL(url);
  /** @type {number[]} */
  const latencies = [];
  /** @type {import("node:net").Socket[]} Connections on which nothing is under way. */
  const idle = [];
  /** @type {Set<import("node:net").Socket>} */
  const sockets = new Set();
  const open = () => {
    const socket = connect({ port: Number(port), host: hostname, noDelay: true });
    sockets.add(socket.on("error", () => undefined).on("close", () => sockets.delete(socket)));
    return socket;
  };
  const post = async (/** @type {Buffer} */ bytes) => {
    const sent = performance.now();
    for (;;) {
      const socket = idle.pop() ?? open();
      const reply = sockets.has(socket) ? await replyTo(bytes, socket) : undefined;
      // Servers close a connection that has been idle for some seconds, also while a request is on its way.
      if (reply === undefined) continue;
      latencies.push(performance.now() - sent);
      if (!String(reply).startsWith("HTTP/1.1 200 ")) throw new Error(`answered with ${reply.toString()}`);
      return void idle.push(socket);
    }
  };
  const started = performance.now();
  const answers = [];
  for (const [index, { bytes }] of list.entries()) {
    const due = started + (index * 1000) / perSecond;
    while (performance.now() < due) await pause(1);
    answers.push(post(bytes));
  }
  await Promise.all(answers);
  for (const socket of sockets) socket.destroy();
  return latencies.toSorted((a, b) => a - b);
}

/**
 * Undefined if the connection is closed without a reply.
 * @param {Buffer} bytes
 * @param {import("node:net").Socket} socket
 * @returns {Promise<Buffer | undefined>}
 */
const replyTo = (bytes, socket) =>
  new Promise((resolve) => {
    const answered = (/** @type {Buffer | undefined} */ reply) => {
      socket.off("data", answered).off("close", closed);
      resolve(reply);
    };
    const closed = () => answered(undefined);
    socket.on("data", answered).on("close", closed).write(bytes);
  });

/**
 * @param {readonly number[]} sorted In ascending order.
 * @param {number} part Of all, such as 0.99.
 */
export const quantile = (sorted, part) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
