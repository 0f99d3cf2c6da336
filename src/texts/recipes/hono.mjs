/**
 * Hono: verify() takes the Web request, before c.req.json() reads it. With orders.mjs beside it:
 *
 *     npm install hono @hono/node-server paylink-webhooks
 *
 * On Node, a file with these lines starts it:
 *
 *     import { serve } from "@hono/node-server";
 *     import { createApp } from "./hono.mjs";
 *     serve({ fetch: createApp({ key: process.env.PAYLINK_WEBHOOK_KEY }).fetch, port: 3000 });
 *
 * Bun and `deno serve` need no @hono/node-server, and start a file with these:
 *
 *     import { createApp } from "./hono.mjs";
 *     export default createApp({ key: process.env.PAYLINK_WEBHOOK_KEY });
 */
import { Hono } from "hono";
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

/** @param {import("paylink-webhooks").VerifierOptions} options */
export function createApp(options) {
  const verify = createVerifier(options);
  const app = new Hono();
  app.post("/webhooks/paylink", async (c) => {
    try {
      const webhook = await verify(c.req.raw);
      book(webhook);
      console.log(webhook.outcome, webhook.transaction.reference);
      return c.body(null, 200);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      console.warn(error.message);
      return Response.json(error.problem, { status: error.status });
    }
  });
  return app;
}
