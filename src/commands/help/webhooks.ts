/** The topic `webhooks` of `paylink help`: verification in an application, and a receiver for each framework and language. */
import express from "./webhooks/express.mjs?raw";
import fastify from "./webhooks/fastify.mjs?raw";
import hono from "./webhooks/hono.mjs?raw";
import koa from "./webhooks/koa.mjs?raw";
import lambda from "./webhooks/lambda.mjs?raw";
import nest from "./webhooks/nest.ts?raw";
import next from "./webhooks/next.mjs?raw";
import node from "./webhooks/node.mjs?raw";
import bookings from "./webhooks/orders.mjs?raw";
import reactRouter from "./webhooks/react-router.mjs?raw";
import go from "./webhooks/receiver.go?raw";
import php from "./webhooks/receiver.php?raw";
import python from "./webhooks/receiver.py?raw";
import ruby from "./webhooks/receiver.rb?raw";
import java from "./webhooks/Receiver.java?raw";
import workers from "./webhooks/workers.mjs?raw";

export const WEBHOOKS_INTRODUCTION = [
  "The package paylink-webhooks verifies webhooks in your application, by the same rules as listen and verify: npm install paylink-webhooks. It has no dependencies; paylink/webhooks is the same code for an application that has all of paylink.",
  "verifyWebhook(request, options) verifies one webhook, and createVerifier(options) returns a function that verifies many. Both resolve with { outcome, transaction, amounts, violations, verdict, raw, record } if the webhook is authentic. Otherwise they throw a WebhookError: do not act on the request, and answer with error.status. A mistaken option or request is a TypeError, which says what to pass.",
  "outcome is APPROVED, PARTIALLY_APPROVED (which does not pay the order), DECLINED, CANCELLED or UNCLEAR. transaction has the fields of the specification, with a type for each outcome: a field that is missing or has another type is undefined, and in violations. amounts has the text of each amount, its currency, and its minorUnits, a bigint to compare with the order; minorUnits is undefined if it cannot be told. record is the whole record as parsed, with the members that the specification does not have, and raw the bytes of the body.",
  "Before you book a payment, compare amount and currency with the order, and book each uti once: orders.mjs does both for each receiver in JavaScript.",
  "request is a Web Request, the request of Node, Express, NestJS, Fastify, Koa or Hono, an event of API Gateway, { method, url, headers, body } with the body as bytes, or { headers, body } alone from a queue. A body that was parsed before is refused (body_parsed), since its bytes are gone; the error names the fix for the framework.",
];

export const WEBHOOK_OPTIONS: Readonly<Record<string, string>> = {
  key: "the service's public key: anything that --key accepts, a JWK, a KeyObject, or a list of them; a URL is fetched again after ten minutes, or as its Cache-Control says, and when a key is not known",
  publicUrl:
    "the address that the service posts to; needed only if the signature covers it (@authority, @target-uri, …)",
  path: "the path, or list of paths, that a proxy maps the path of publicUrl to, such as /internal/hook",
  tolerance: "how old a signature may be: seconds or a duration; 5m by default",
  require: "a list of components that must be signed besides content-digest",
  requireCreated: "true refuses signatures without a creation time",
  recordAt: "the JSON Pointer to the record, if the service wraps it",
  strict:
    "true refuses a record that breaks the specification (422), and gives each transaction its full type",
  now: "the time to verify at, for tests",
};

export const WEBHOOKS_NOTES = [
  "The rules: the signature has the label sig1 and is made with rsa-v1_5-sha256 and an RSA key of at least 2048 bits. It covers content-digest, which matches the bytes of the body. created, if given, is at most 5 minutes old and not in the future, with 60 seconds for clocks that differ; expires, if given, has not passed. Nothing in the message can change a rule: neither its alg nor Host nor a forwarding header.",
  "listen answers 401 with the code of the reason if a rule is broken, and gives the details only to you. A record that breaks the specification is authentic: listen shows each violation, and refuses it only with --strict.",
  "The key of the sandbox: export PAYLINK_WEBHOOK_KEY=$(paylink config get webhookKey -p sandbox). Without a key, createVerifier throws, so the application does not start.",
  "For tests, sampleTransaction(outcome, changes) makes a transaction and signWebhook(transaction, { key, url }) signs it: fetch(url, webhook) posts it. paylink check tests the whole endpoint.",
  "It runs on Node 20.18 and later, Bun, Deno, and Cloudflare Workers with nodejs_compat. Keys at a URL are fetched with the runtime's fetch; on Node, NODE_USE_ENV_PROXY=1 makes it use HTTPS_PROXY.",
  "PHP, Python, Go, Ruby and Java have no library: each receiver below is one file without paylink, for webhooks as the service signs them (header fields only). It reads PORT (php -S has the address as an argument) and the key as PEM, from PAYLINK_WEBHOOK_KEY or the file PAYLINK_WEBHOOK_KEY_FILE. Try one with: paylink test -- sh -c 'python3 receiver.py & sleep 1; paylink check 3000/webhooks/paylink; kill $!'",
];

/** What `paylink help webhooks <name>` prints, ready to save: those of the library first, then those of other languages. */
export const RECEIVERS = {
  orders: {
    holds: "orders.mjs: what each receiver in JavaScript does with a verified webhook",
    text: bookings,
  },
  node: { holds: "node.mjs: Node without a framework", text: node },
  express: { holds: "express.mjs: Express 5", text: express },
  fastify: { holds: "fastify.mjs: Fastify", text: fastify },
  hono: { holds: "hono.mjs: Hono, on Node, Bun or Deno", text: hono },
  koa: { holds: "koa.mjs: Koa", text: koa },
  nest: { holds: "paylink.controller.ts: NestJS", text: nest },
  next: { holds: "route.js: Next.js", text: next },
  "react-router": { holds: "paylink.js: React Router and Remix", text: reactRouter },
  workers: { holds: "workers.mjs: Cloudflare Workers", text: workers },
  lambda: { holds: "lambda.mjs: AWS Lambda behind API Gateway", text: lambda },
  php: { holds: "receiver.php: PHP 8.2 or later", text: php },
  python: { holds: "receiver.py: Python 3.11 or later, with the package cryptography", text: python },
  go: { holds: "receiver.go: Go 1.19 or later", text: go },
  ruby: { holds: "receiver.rb: Ruby 3.1 or later, with the gem webrick", text: ruby },
  java: { holds: "Receiver.java: Java 17 or later", text: java },
};
