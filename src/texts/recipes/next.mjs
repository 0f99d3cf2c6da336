/**
 * Next.js: npm install paylink-webhooks, and save this as app/webhooks/paylink/route.js, with orders.mjs beside it. Its runtime is Node,
 * the default; next build needs no key.
 */
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

export const runtime = "nodejs";

/** @type {ReturnType<typeof createVerifier> | undefined} Made with the first webhook, so that a build needs no key. */
let verify;

/** @param {Request} request */
export async function POST(request) {
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
