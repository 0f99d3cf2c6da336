/**
 * A merchant's Express application that verifies each forwarded webhook again, with an independent library.
 * node express-app.mjs <public.pem>
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import express from "express";
import { httpbis } from "http-message-signatures";

const key = createPublicKey(readFileSync(process.argv[2] ?? ""));
const app = express();
app.set("trust proxy", "loopback");

/**
 * @param {import("node:http").IncomingHttpHeaders} headers
 * @returns {Record<string, string | string[]>}
 */
const onlyPresent = (headers) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/** @param {express.Request} request */
async function verifies({ method, headers, body, protocol, host, originalUrl }) {
  const verified = await httpbis.verifyMessage(
    {
      requiredFields: ["content-digest"],
      keyLookup: async () => ({
        algs: ["rsa-v1_5-sha256"],
        verify: async (data, signature) => verify("sha256", data, key, signature),
      }),
    },
    { method, headers: onlyPresent(headers), url: `${protocol}://${host}${originalUrl}` },
  );
  const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
  return verified === true && digest === headers["content-digest"];
}

app.post("/", express.raw({ type: "application/json" }), (request, response) => {
  void verifies(request).then((genuine) => response.sendStatus(genuine ? 200 : 401));
});

const server = app.listen(0, "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.stdout.write(`${port}\n`);
});
