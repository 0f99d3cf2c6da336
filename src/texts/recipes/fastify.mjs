/**
 * Fastify: the parser of this scope leaves the body to verify(); other routes keep their own parsers. With orders.mjs beside it:
 *
 *     npm install fastify paylink-webhooks
 *     node fastify.mjs
 */
import { realpathSync } from "node:fs";
import fastify from "fastify";
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders.mjs";

/** @param {import("paylink-webhooks").VerifierOptions} options */
export function createApp(options) {
  const verify = createVerifier(options);
  const app = fastify();
  app.register(async (webhooks) => {
    webhooks.removeAllContentTypeParsers();
    webhooks.addContentTypeParser("*", (request, payload, done) => done(null));
    webhooks.post("/webhooks/paylink", async (request, reply) => {
      try {
        const webhook = await verify(request.raw);
        book(webhook);
        console.log(webhook.outcome, webhook.transaction.reference);
        return reply.code(200).send();
      } catch (error) {
        if (!(error instanceof WebhookError)) throw error;
        console.warn(error.message);
        return reply.code(error.status).send(error.problem);
      }
    });
  });
  return app;
}

// Only when it is run, not when another program, such as a test, imports it.
if (realpathSync(process.argv[1] ?? ".") === import.meta.filename)
  await createApp({ key: process.env.PAYLINK_WEBHOOK_KEY }).listen({
    port: Number(process.env.PORT ?? 3000),
  });
