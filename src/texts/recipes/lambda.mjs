/**
 * AWS Lambda behind a function URL or an HTTP API: npm install paylink-webhooks, and save this, which exports the handler, beside
 * orders.mjs. The Map of orders.mjs does not outlive an instance of the function: book in a database.
 */
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

const verify = createVerifier({ key: process.env.PAYLINK_WEBHOOK_KEY });

/**
 * @typedef {object} WebhookEvent what is used of the event (payload version 2.0)
 * @property {string} rawPath
 * @property {string} rawQueryString
 * @property {Record<string, string>} headers
 * @property {string} [body]
 * @property {boolean} isBase64Encoded
 * @property {{ http: { method: string } }} requestContext
 */

/** @param {WebhookEvent} event */
const requestOf = ({ rawPath, rawQueryString, headers, body = "", isBase64Encoded, requestContext }) => ({
  method: requestContext.http.method,
  url: rawQueryString === "" ? rawPath : `${rawPath}?${rawQueryString}`,
  headers,
  body: isBase64Encoded ? Buffer.from(body, "base64") : body,
});

/** @param {WebhookEvent} event */
export async function handler(event) {
  try {
    const webhook = await verify(requestOf(event));
    book(webhook);
    console.log(webhook.outcome, webhook.transaction.reference);
    return { statusCode: 200 };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    console.warn(error.message);
    return { statusCode: error.status };
  }
}
