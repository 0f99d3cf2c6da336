/**
 * The bare durable receiver to compare listen with: node:http, one digest, one RSA verification, and one synchronised
 * write, or one insert into PostgreSQL, for all webhooks that arrived together.
 * node floor.mjs <public.pem> <port> <log or postgres://…>
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import pg from "pg";

const [keyFile = "", port, place = ""] = process.argv.slice(2);
const key = createPublicKey(await readFile(keyFile));
const save = await (place.startsWith("postgres:") ? openTable(place) : openLog(place));
/** @type {{ body: Buffer, response: import("node:http").ServerResponse }[]} */
let waiting = [];
let writing = false;

async function write() {
  writing = true;
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    await save(batch.map(({ body }) => body));
    for (const { response } of batch) response.end();
  }
  writing = false;
}

createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const { headers, method, url } = request;
    const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
    const base = `"@method": ${method}\n"@target-uri": http://${headers.host}${url}\n"content-digest": ${digest}\n"content-type": ${headers["content-type"]}\n"@signature-params": ${String(headers["signature-input"]).slice(5)}`;
    const signature = Buffer.from(String(headers["signature"]).slice(6, -1), "base64");
    if (!verify("sha256", Buffer.from(base), key, signature)) {
      response.statusCode = 401;
      return void response.end();
    }
    waiting.push({ body, response });
    if (!writing) void write();
  });
}).listen(Number(port), "127.0.0.1", () =>
  process.stdout.write(`${JSON.stringify({ type: "ready", url: `http://127.0.0.1:${port}/` })}\n`),
);

/** @param {string} path */
async function openLog(path) {
  const log = await open(path, "a");
  return async (/** @type {Buffer[]} */ bodies) => {
    await log.write(Buffer.concat(bodies));
    await log.datasync();
  };
}

/** @param {string} url */
async function openTable(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "CREATE TABLE bare (seq bigserial PRIMARY KEY, digest bytea NOT NULL UNIQUE, received_at timestamptz NOT NULL, body bytea NOT NULL)",
  );
  return async (/** @type {Buffer[]} */ bodies) => {
    const places = bodies.map((_, row) => `($${3 * row + 1}, $${3 * row + 2}, $${3 * row + 3})`);
    const values = bodies.flatMap((body) => [createHash("sha256").update(body).digest(), new Date(), body]);
    await client.query(`INSERT INTO bare (digest, received_at, body) VALUES ${places.join()}`, values);
  };
}
