/**
 * Express 5: verify() reads the body, so the route comes before express.json(). With orders.mjs beside it:
 *
 *     npm install express paylink-webhooks
 *     node express.mjs
 */
import { realpathSync } from "node:fs";
import express from "express";
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

/** @param {import("paylink-webhooks").VerifierOptions} options */
export function createApp(options) {
  const verify = createVerifier(options);
  const app = express();
  app.post("/webhooks/paylink", async (request, response) => {
    try {
      const webhook = await verify(request);
      book(webhook);
      console.log(webhook.outcome, webhook.transaction.reference);
      response.sendStatus(200);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      console.warn(error.message);
      response.status(error.status).json(error.problem);
    }
  });
  app.use(express.json());
  return app;
}

// Only when it is run, not when another program, such as a test, imports it.
if (realpathSync(process.argv[1] ?? ".") === import.meta.filename)
  createApp({ key: process.env.PAYLINK_WEBHOOK_KEY }).listen(process.env.PORT ?? 3000);
