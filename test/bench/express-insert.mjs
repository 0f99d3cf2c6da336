/**
 * The application to compare listen with: Express, http-message-signatures, a check of the digest, and one durable insert
 * for each webhook. node express-insert.mjs <public.pem> <port> <database>
 */
import { createHash, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import express from "express";
import { createVerifier, httpbis } from "http-message-signatures";

const [keyFile = "", port, path = ""] = process.argv.slice(2);

const require = createRequire(import.meta.url);
const [major = ""] = process.versions.node.split(".");
/** @type {typeof import("@photostructure/sqlite")} */
const { DatabaseSync } = require(Number(major) < 22 ? "@photostructure/sqlite" : "node:sqlite");
const database = new DatabaseSync(path);
database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
database.exec("CREATE TABLE webhooks (uti TEXT PRIMARY KEY, received_at INTEGER, body BLOB) STRICT");
const insert = database.prepare("INSERT INTO webhooks VALUES (?, ?, ?) ON CONFLICT DO NOTHING");

const verifying = {
  id: "service",
  algs: ["rsa-v1_5-sha256"],
  verify: createVerifier(createPublicKey(readFileSync(keyFile)), "rsa-v1_5-sha256"),
};
/** @type {import("http-message-signatures").VerifyConfig} */
const config = {
  requiredFields: ["@method", "@target-uri", "content-digest"],
  maxAge: 3600,
  keyLookup: async () => verifying,
};

/** @param {express.Request} request */
async function isGenuine({ method, headers, body, protocol, host, originalUrl }) {
  const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
  if (headers["content-digest"] !== digest) return false;
  const fields = /** @type {Record<string, string | string[]>} */ (headers);
  const message = { method, headers: fields, url: `${protocol}://${host}${originalUrl}` };
  return (await httpbis.verifyMessage(config, message)) === true;
}

const app = express();
app.post("/", express.raw({ type: "application/json", limit: "1mb" }), (request, response, next) => {
  isGenuine(request).then((genuine) => {
    if (genuine) insert.run(JSON.parse(request.body).uti, Date.now(), request.body);
    response.status(genuine ? 200 : 401).end();
  }, next);
});
app.listen(Number(port), "127.0.0.1", () =>
  process.stdout.write(`${JSON.stringify({ type: "ready", url: `http://127.0.0.1:${port}/` })}\n`),
);
// Closing it here keeps the database referenced: its statements alone do not save it from garbage collection.
process.once("SIGINT", () => {
  database.close();
  process.exit();
});
