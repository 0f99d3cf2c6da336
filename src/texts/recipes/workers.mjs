/**
 * Cloudflare Workers: npm install paylink-webhooks, with orders.mjs beside this, and nodejs_compat among the compatibility_flags.
 * Store the key with: npx wrangler secret put PAYLINK_WEBHOOK_KEY. The Map of orders.mjs does not outlive a Worker: book in D1 or
 * another database.
 */
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

/** @type {ReturnType<typeof createVerifier> | undefined} */
let verify;

export default {
  /**
   * @param {Request} request
   * @param {{ PAYLINK_WEBHOOK_KEY: string }} env
   */
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/webhooks/paylink") return new Response(null, { status: 404 });
    // Secrets are available only with a request.
    verify ??= createVerifier({ key: env.PAYLINK_WEBHOOK_KEY });
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
};
