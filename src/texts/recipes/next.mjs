/** Next.js: npm install paylink-webhooks, and save this as app/webhooks/paylink/route.js, with orders.mjs beside it. */
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

const verify = createVerifier({ key: process.env.PAYLINK_WEBHOOK_KEY });

/** @param {Request} request */
export async function POST(request) {
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
