/** Next.js, app/webhooks/paylink/route.js: export const POST = createHandler({ key: process.env.PAYLINK_WEBHOOK_KEY }) */
import { createVerifier, WebhookError } from "paylink/webhooks";
import { book } from "./orders.mjs";

/** @param {import("paylink/webhooks").VerifierOptions} options */
export function createHandler(options) {
  const verify = createVerifier(options);
  /** @param {Request} request */
  return async (request) => {
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
  };
}
