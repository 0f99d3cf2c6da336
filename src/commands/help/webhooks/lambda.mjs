/** AWS Lambda behind API Gateway or a function URL. The Map of orders.mjs does not outlive a function: book in a database. */
import { createVerifier, WebhookError } from "paylink/webhooks";
import { book } from "./orders.mjs";

const verify = createVerifier({ key: process.env.PAYLINK_WEBHOOK_KEY });

/**
 * HTTP APIs have rawPath, REST APIs have path.
 * @param {{ rawPath?: string, path?: string, headers: Record<string, string>, body?: string | null, isBase64Encoded: boolean }} event
 */
export async function handler({ rawPath, path = "/", headers, body, isBase64Encoded }) {
  const bytes = Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8");
  try {
    const webhook = await verify({ method: "POST", url: rawPath ?? path, headers, body: bytes });
    book(webhook);
    console.log(webhook.outcome, webhook.transaction.reference);
    return { statusCode: 200 };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    console.warn(error.message);
    return { statusCode: error.status };
  }
}
