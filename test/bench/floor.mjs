/**
 * The bare durable receiver to compare listen with: node:http, one digest, one RSA verification, and one synchronised
 * write for all webhooks that arrived together. node floor.mjs <public.pem> <port> <log>
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { createServer } from "node:http";

const [keyFile = "", port, path = ""] = process.argv.slice(2);
const key = createPublicKey(await readFile(keyFile));
const log = await open(path, "a");
/** @type {{ body: Buffer, response: import("node:http").ServerResponse }[]} */
let waiting = [];
let writing = false;

async function write() {
  writing = true;
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    await log.write(Buffer.concat(batch.map(({ body }) => body)));
    await log.datasync();
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
