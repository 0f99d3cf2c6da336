/** Posts a webhook to the same handler in Koa and NestJS, and prints what each made of it. */
// The test alone installs the frameworks, and this file runs outside of the project.
// @ts-nocheck
/* oxlint-disable */
const { generateKeyPairSync } = require("node:crypto");
const { once } = require("node:events");
const { createVerifier, signWebhook, sampleTransaction } = require(process.env.PAYLINK_LIBRARY);

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const verify = createVerifier({ key: publicKey });
const judge = (request) =>
  verify(request).then(
    ({ outcome }) => outcome,
    ({ code }) => code,
  );

async function answerOf(server) {
  if (!server.listening) await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}/hook`;
  const cover = ["@method", "@target-uri", "content-digest"];
  const response = await fetch(
    url,
    signWebhook(sampleTransaction("APPROVED"), { key: privateKey, url, cover }),
  );
  const answer = await response.text();
  server.closeAllConnections();
  server.close();
  return answer;
}

async function koa(parse, requestOf) {
  const Koa = require("koa");
  const app = new (Koa.default ?? Koa)();
  if (parse) app.use(require("koa-bodyparser")());
  app.use(async (context) => {
    context.body = await judge(requestOf(context));
  });
  return answerOf(app.listen(0, "127.0.0.1"));
}

/** On Express, or on Fastify by its adapter; `requestOf` takes what is passed from the request of @Req(). */
async function nest(rawBody, adapter, requestOf = (request) => request) {
  require("reflect-metadata");
  const { NestFactory } = require("@nestjs/core");
  const { Controller, Module, Post, Req } = require("@nestjs/common");
  class Hook {
    receive(request) {
      return judge(requestOf(request));
    }
  }
  Post("hook")(Hook.prototype, "receive", Object.getOwnPropertyDescriptor(Hook.prototype, "receive"));
  Req()(Hook.prototype, "receive", 0);
  Controller()(Hook);
  class Shop {}
  Module({ controllers: [Hook] })(Shop);
  const options = { rawBody, logger: false };
  const app = await (adapter === undefined
    ? NestFactory.create(Shop, options)
    : NestFactory.create(Shop, adapter, options));
  await app.listen(0, "127.0.0.1");
  return answerOf(app.getHttpServer());
}

const fastify = () => new (require("@nestjs/platform-fastify").FastifyAdapter)();

async function run() {
  const answers = {
    "Koa: ctx.req": await koa(false, (context) => context.req),
    "Koa with a body parser: ctx.req": await koa(true, (context) => context.req),
    "NestJS with rawBody": await nest(true),
    "NestJS without rawBody": await nest(false),
    "NestJS on Fastify with rawBody": await nest(true, fastify()),
    "NestJS on Fastify with rawBody, and request.raw": await nest(true, fastify(), ({ raw }) => raw),
    "NestJS on Fastify without rawBody": await nest(false, fastify()),
  };
  console.log(JSON.stringify(answers));
}
void run();
