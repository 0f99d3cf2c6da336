/**
 * Plain Node: one server, one path. With orders.mjs beside it:
 *
 *     npm install paylink-webhooks
 *     node node.mjs
 */
import { realpathSync } from "node:fs";
import { createServer } from "node:http";
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

/** @param {import("paylink-webhooks").VerifierOptions} options */
export function createApp(options) {
  const verify = createVerifier(options);
  return createServer(async (request, response) => {
    if (request.url?.split("?")[0] !== "/webhooks/paylink") return response.writeHead(404).end();
    try {
      const webhook = await verify(request);
      book(webhook);
      console.log(webhook.outcome, webhook.transaction.reference);
      response.writeHead(200).end();
    } catch (error) {
      console.warn(error instanceof Error ? error.message : error);
      if (!(error instanceof WebhookError)) return response.writeHead(500).end();
      response.writeHead(error.status, { "Content-Type": "application/problem+json" });
      response.end(JSON.stringify(error.problem));
    }
  });
}

// Only when it is run, not when another program, such as a test, imports it.
if (realpathSync(process.argv[1] ?? ".") === import.meta.filename)
  createApp({ key: process.env.PAYLINK_WEBHOOK_KEY }).listen(process.env.PORT ?? 3000);
