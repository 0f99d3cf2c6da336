/**
 * AWS Lambda behind API Gateway (REST or HTTP API), a function URL or an Application Load Balancer: npm install paylink-webhooks, and
 * save this, which exports the handler, beside orders.mjs. The Map of orders.mjs does not outlive an instance of the function: book
 * in a database. An Express or Fastify application on Lambda has its own receiver: see express.mjs and fastify.mjs.
 */
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

/** @type {ReturnType<typeof createVerifier> | undefined} Made with the first webhook, so that a build needs no key. */
let verify;

/** @param {import("paylink-webhooks").LambdaEvent} event */
export async function handler(event) {
  verify ??= createVerifier({ key: process.env.PAYLINK_WEBHOOK_KEY });
  try {
    const webhook = await verify(event);
    book(webhook);
    console.log(webhook.outcome, webhook.transaction.reference);
    return { statusCode: 200 };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    console.warn(error.message);
    const headers = { "Content-Type": "application/problem+json" };
    return { statusCode: error.status, headers, body: JSON.stringify(error.problem) };
  }
}
