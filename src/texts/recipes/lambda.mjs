/**
 * AWS Lambda behind API Gateway or a function URL: npm install paylink-webhooks, with orders.mjs beside this, which exports the
 * handler. The Map of orders.mjs does not outlive a function: book in a database.
 */
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

const verify = createVerifier({ key: process.env.PAYLINK_WEBHOOK_KEY });

/** @param {import("paylink-webhooks").WebhookRequest} event the event of a function URL, an HTTP API or a REST API */
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
