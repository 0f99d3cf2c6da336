/** The text of `paylink help webhooks`: verification in an application, with a recipe for each framework. */
import express from "./recipes/express.mjs?raw";
import fastify from "./recipes/fastify.mjs?raw";
import hono from "./recipes/hono.mjs?raw";
import next from "./recipes/next.mjs?raw";
import node from "./recipes/node.mjs?raw";

export const WEBHOOKS_INTRODUCTION = [
  "paylink/webhooks verifies webhooks in your application, by the same rules as listen and verify. Install it with: npm install --ignore-scripts paylink",
  "verifyWebhook(request, options) verifies one webhook, and createVerifier(options) returns a function that verifies many. Both resolve with { outcome, transaction, amounts, verdict, raw } if the webhook is authentic and its record follows the specification. Otherwise they throw a WebhookError: do not act on the request, and answer with error.status.",
  "outcome is APPROVED, DECLINED or CANCELLED; transaction is the record, with a type for each outcome; amounts has the exact text of each amount; raw has the bytes of the body.",
  "request is a Web Request, the request of Node, Express, Fastify or Hono, or { method, url, headers, body } with the body as bytes. A body that was parsed before is refused (body_parsed): its bytes are gone.",
];

export const WEBHOOK_OPTIONS: readonly (readonly [name: string, means: string])[] = [
  [
    "key",
    "the service's public key: anything that --key accepts, a JWK, a KeyObject, or a list of them; a URL is fetched again when the service changes its keys",
  ],
  [
    "publicUrl",
    "the address that the service posts to; needed only if the signature covers it (@authority, @target-uri, …)",
  ],
  ["tolerance", "how old a signature may be: seconds or a duration; 5m by default"],
  ["require", "a list of components that must be signed besides content-digest"],
  ["requireCreated", "true refuses signatures without a creation time"],
  ["recordAt", "the JSON Pointer to the record, if the service wraps it"],
  ["now", "the time to verify at, for tests"],
];

export const WEBHOOKS_NOTES = [
  "The rules: the signature has the label sig1 and is made with rsa-v1_5-sha256 and an RSA key of at least 2048 bits. It covers content-digest, which matches the bytes of the body. created, if given, is at most 5 minutes old and not in the future, with 60 seconds for clocks that differ; expires, if given, has not passed. Nothing in the message can change a rule: neither its alg nor Host nor a forwarding header.",
  "listen answers 401 if a rule is broken, and gives the reason only to you. A record that breaks the specification is authentic: listen shows each violation, and refuses it only with --strict.",
  "For tests, sampleTransaction(outcome, changes) makes a transaction and signWebhook(transaction, { key, url }) signs it: fetch(url, webhook) posts it. paylink check tests the whole endpoint.",
  "It runs on Node 20.18 and later, and on Bun and Deno, which have node:crypto. Keys at a URL are fetched with the runtime's fetch; on Node, NODE_USE_ENV_PROXY=1 makes it use HTTPS_PROXY.",
];

export const RECIPES: Readonly<Record<string, string>> = { express, fastify, hono, next, node };
