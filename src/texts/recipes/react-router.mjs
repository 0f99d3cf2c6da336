/**
 * React Router and Remix: npm install paylink-webhooks, and save this as app/paylink.js, with orders.mjs beside it. In app/routes.ts,
 * add route("webhooks/paylink", "./paylink.js").
 */
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

const verify = createVerifier({ key: process.env.PAYLINK_WEBHOOK_KEY });

/** @param {{ request: Request }} event */
export async function action({ request }) {
  try {
    const webhook = await verify(request);
    book(webhook);
    console.log(webhook.outcome, webhook.transaction.reference);
    return new Response(null, { status: 200 });
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    console.warn(error.message);
    return new Response(null, { status: error.status });
  }
}
