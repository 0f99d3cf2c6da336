/**
 * Nuxt, Nitro and h3: npm install paylink-webhooks, and save this as server/routes/webhooks/paylink.post.js, with orders.mjs in
 * server/utils. Where your code has called readRawBody(event, false) before, pass { method, url, headers, body } with what it gave.
 */
import { defineEventHandler, setResponseStatus } from "h3";
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "../../utils/orders.mjs";

/** Made with the first webhook, so that a build needs no key. */
let verify;

export default defineEventHandler(async (event) => {
  verify ??= createVerifier({ key: process.env.PAYLINK_WEBHOOK_KEY });
  try {
    const webhook = await verify(event.req);
    book(webhook);
    console.log(webhook.outcome, webhook.transaction.reference);
    return "";
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    console.warn(error.message);
    setResponseStatus(event, error.status);
    return error.problem;
  }
});
