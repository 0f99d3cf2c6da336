/**
 * Koa: verify() reads the body, so this comes before a body parser. With orders.mjs beside it:
 *
 *     npm install koa paylink-webhooks
 *     node koa.mjs
 */
import { realpathSync } from "node:fs";
import Koa from "koa";
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

/** @param {import("paylink-webhooks").VerifierOptions} options */
export function createApp(options) {
  const verify = createVerifier(options);
  const app = new Koa();
  app.use(async (ctx, next) => {
    if (ctx.path !== "/webhooks/paylink") return next();
    try {
      const webhook = await verify(ctx.req);
      book(webhook);
      console.log(webhook.outcome, webhook.transaction.reference);
      ctx.status = 200;
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      console.warn(error.message);
      ctx.status = error.status;
      ctx.body = error.problem;
    }
  });
  return app;
}

// Only when it is run, not when another program, such as a test, imports it.
if (realpathSync(process.argv[1] ?? ".") === import.meta.filename)
  createApp({ key: process.env.PAYLINK_WEBHOOK_KEY }).listen(process.env.PORT ?? 3000);
