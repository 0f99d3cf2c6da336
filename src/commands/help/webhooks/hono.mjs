/**
 * Hono: verify() takes the Web request, before c.req.json() reads it. On Bun and Deno, export the application as the default; on Node,
 * serve({ fetch: app.fetch, port: 3000 }) of @hono/node-server starts it.
 */
import { Hono } from "hono";
import { createVerifier, WebhookError } from "paylink/webhooks";
import { book } from "./orders.mjs";

/** @param {import("paylink/webhooks").VerifierOptions} options */
export function createApp(options) {
  const verify = createVerifier(options);
  const app = new Hono();
  app.post("/webhooks/paylink", async (c) => {
    try {
      const webhook = await verify(c.req);
      book(webhook);
      console.log(webhook.outcome, webhook.transaction.reference);
      return c.body(null, 200);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      console.warn(error.message);
      return new Response(null, { status: error.status });
    }
  });
  return app;
}
