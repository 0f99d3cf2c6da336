/**
 * React Router and Remix: npm install paylink-webhooks, and save this as app/paylink.js, with orders.mjs beside it. In app/routes.ts,
 * add route("webhooks/paylink", "./paylink.js").
 */
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

/** @type {ReturnType<typeof createVerifier> | undefined} Made with the first webhook, so that a build needs no key. */
let verify;

/** @param {{ request: Request }} event */
export async function action({ request }) {
  verify ??= createVerifier({ key: process.env.PAYLINK_WEBHOOK_KEY });
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
