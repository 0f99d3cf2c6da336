/**
 * Elysia: parse: "none" leaves the body to verify(). With orders.mjs beside it:
 *
 *     npm install elysia paylink-webhooks      (and @elysiajs/node on Node)
 *
 * A file with these lines starts it on Bun:
 *
 *     import { createApp } from "./elysia.mjs";
 *     createApp({ key: process.env.PAYLINK_WEBHOOK_KEY }).listen(3000);
 *
 * On Node: createApp({ key: process.env.PAYLINK_WEBHOOK_KEY }, { adapter: node() }), with node of @elysiajs/node.
 */
import { Elysia } from "elysia";
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

/**
 * @param {import("paylink-webhooks").VerifierOptions} options
 * @param {object} [settings] of Elysia
 */
export function createApp(options, settings = {}) {
  const verify = createVerifier(options);
  return new Elysia(settings).post(
    "/webhooks/paylink",
    async ({ request }) => {
      try {
        const webhook = await verify(request);
        book(webhook);
        console.log(webhook.outcome, webhook.transaction.reference);
        return new Response(null, { status: 200 });
      } catch (error) {
        if (!(error instanceof WebhookError)) throw error;
        console.warn(error.message);
        return Response.json(error.problem, { status: error.status });
      }
    },
    { parse: "none" },
  );
}
