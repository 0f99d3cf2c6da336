/**
 * SvelteKit: npm install paylink-webhooks, and save this as src/routes/webhooks/paylink/+server.js, with orders.mjs in src/lib. The key
 * is read from the environment, or from .env in development.
 */
import { env } from "$env/dynamic/private";
import { book } from "$lib/orders.mjs";
import { createVerifier, WebhookError } from "paylink-webhooks";

/** Made with the first webhook, so that a build needs no key. */
let verify;

/** @param {{ request: Request }} event */
export async function POST({ request }) {
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
}
