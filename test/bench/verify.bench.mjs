/**
 * Verifying one webhook with the built library, from the request to the record, compared with `sha256` and `crypto.verify`
 * alone, and with npm libraries plus the digest check and `JSON.parse` that they leave to their users.
 */
import { createHash, generateKeyPairSync, sign as cryptoSign, verify as cryptoVerify } from "node:crypto";
import { verify as verifyByLto } from "@ltonetwork/http-message-signatures";
import { verifySignature } from "http-message-sig";
import { createVerifier, httpbis } from "http-message-signatures";
import { parseDictionary } from "structured-headers";
import { median, row } from "./row.mjs";

/** @type {typeof import("paylink-webhooks")} */
const { createVerifier: createWebhookVerifier, sampleTransaction } = await import(
  new URL("../../dist/webhooks/index.mjs", import.meta.url).href
);

const ROUNDS = 15;
const PER_ROUND = 500;
/** Runs until the compiler has settled: a listener is warm after a few seconds. */
const WARM_UP = 30_000;
const BODY = Buffer.from(JSON.stringify(sampleTransaction("APPROVED")));
const NOW = Math.floor(Date.now() / 1000);
const URL_SENT = "https://merchant.example/webhooks?src=pl";
/** What the service signs. */
const COVERED = ["content-digest", "content-length", "content-type"];
const ALG = "rsa-v1_5-sha256";

const { publicKey, privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
});
const digest = `sha-256=:${createHash("sha256").update(BODY).digest("base64")}:`;
const params = `(${COVERED.map((name) => `"${name}"`).join(" ")});created=${NOW};keyid="k";alg="${ALG}"`;
const base = [
  `"content-digest": ${digest}`,
  `"content-length": ${BODY.length}`,
  '"content-type": application/json; charset=utf-8',
  `"@signature-params": ${params}`,
].join("\n");
const signature = cryptoSign("sha256", Buffer.from(base), privateKey);
/** @type {[string, string][]} */
const headers = [
  ["Host", "merchant.example"],
  ["Accept", "application/json"],
  ["Content-Type", "application/json; charset=utf-8"],
  ["Content-Digest", digest],
  ["Content-Length", String(BODY.length)],
  ["Signature-Input", `sig1=${params}`],
  ["Signature", `sig1=:${signature.toString("base64")}:`],
];
const record = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
/** @satisfies {import("http-message-signatures").Request} */
const message = { method: "POST", url: URL_SENT, headers: record };
/** @type {import("http-message-sig").SignatureMessage} */
const descriptor = {
  kind: "request",
  method: "POST",
  targetUri: URL_SENT,
  fields: headers.map(([name, value]) => ({ name, value })),
};
/** As a server of Node hands it on. */
const request = { method: "POST", url: new URL(URL_SENT).pathname, headers, body: BODY };

/** What the libraries leave to their users, in its shortest form. */
function readBody() {
  const [sent] = parseDictionary(digest).get("sha-256") ?? [];
  if (!(sent instanceof ArrayBuffer)) throw new Error("no digest");
  must(createHash("sha256").update(BODY).digest().equals(Buffer.from(sent)));
  return JSON.parse(BODY.toString());
}

/**
 * @param {string | Uint8Array} data
 * @param {Uint8Array} received
 */
const rsa = (data, received) => cryptoVerify("sha256", Buffer.from(data), publicKey, received);
const baseBytes = Buffer.from(base);
/** @param {boolean | null} ok */
const must = (ok) => {
  if (!ok) throw new Error("did not verify");
};

const verifyingKey = createVerifier(publicKey, ALG);

const verify = createWebhookVerifier({ key: publicKey, now: NOW });

const FLOOR = "sha256 + crypto.verify alone";
const OURS = "paylink-webhooks";
const cases = [
  {
    name: FLOOR,
    once: () => {
      createHash("sha256").update(BODY).digest();
      must(cryptoVerify("sha256", baseBytes, publicKey, signature));
    },
  },
  { name: OURS, once: async () => must((await verify(request)).outcome === "APPROVED") },
  {
    name: "http-message-signatures + digest + JSON",
    once: async () => {
      must(readBody().transApproved);
      const keyLookup = async () => ({
        id: "k",
        algs: [ALG],
        verify: verifyingKey,
      });
      must(
        await httpbis.verifyMessage({ keyLookup, requiredFields: ["content-digest"], maxAge: 300 }, message),
      );
    },
  },
  {
    name: "http-message-sig + digest + JSON",
    once: async () => {
      must(readBody().transApproved);
      await verifySignature(descriptor, {
        label: "sig1",
        policy: {
          algorithms: [ALG],
          requiredComponents: ["content-digest"],
          requiredParameters: ["created"],
          maxAge: 300,
        },
        resolveVerifier: () => ({ algorithm: ALG, verify: rsa }),
      });
    },
  },
  {
    name: "@ltonetwork + digest + JSON",
    once: async () => {
      must(readBody().transApproved);
      must(await verifyByLto(message, rsa));
    },
  },
];

/**
 * Microseconds of processor time, which other work on the machine affects less. Only promises are awaited.
 * @param {() => void | Promise<void>} once
 * @param {number} runs
 */
async function time(once, runs) {
  const started = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) {
    const pending = once();
    if (pending !== undefined) await pending;
  }
  const { user, system } = process.cpuUsage(started);
  return (user + system) / runs;
}

/** @type {Map<string, number[]>} */
const times = new Map(cases.map(({ name }) => [name, []]));
for (const { once } of cases) await time(once, WARM_UP);
for (let round = 0; round < ROUNDS; round += 1)
  for (const { name, once } of cases) times.get(name)?.push(await time(once, PER_ROUND));

/** @param {string} name */
const medianOf = (name) => median(times.get(name) ?? []);
const floor = medianOf(FLOOR);
process.stdout.write(
  `Node ${process.versions.node}, RSA-2048, ${BODY.length} bytes, ${ROUNDS} rounds of ${PER_ROUND}\n`,
);
for (const { name } of cases) {
  const each = medianOf(name);
  process.stdout.write(
    `${name.padEnd(36)}${each.toFixed(1).padStart(8)} µs  ${(floor / each).toFixed(2)} ×\n`,
  );
}
const what = "verifying a webhook against `sha256` and `crypto.verify` alone";
row(what, floor / medianOf(OURS), {});
