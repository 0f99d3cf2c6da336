/**
 * AWS Lambda behind API Gateway (REST or HTTP API), a function URL or an Application Load Balancer: npm install paylink-webhooks, and
 * save this, which exports the handler, beside orders.mjs. The Map of orders.mjs does not outlive an instance of the function: book
 * in a database. An Express or Fastify application on Lambda has its own receiver: see express.mjs and fastify.mjs.
 */
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

const verify = createVerifier({ key: process.env.PAYLINK_WEBHOOK_KEY });

/** @param {import("paylink-webhooks").LambdaEvent} event */
export async function handler(event) {
  try {
    const webhook = await verify(event);
    book(webhook);
    console.log(webhook.outcome, webhook.transaction.reference);
    return { statusCode: 200 };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    console.warn(error.message);
    return { statusCode: error.status };
  }
}
