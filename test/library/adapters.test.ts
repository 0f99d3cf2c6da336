/** Requests as the adapters of AWS Lambda make them, for Express and Fastify, and the events of AWS themselves. */
import codegenie from "@codegenie/serverless-express";
import awsLambdaFastify from "@fastify/aws-lambda";
import vendia from "@vendia/serverless-express";
import express from "express";
import fastify from "fastify";
import serverlessHttp from "serverless-http";
import serverlessHttp3 from "serverless-http-3";
import { describe, expect, it } from "vitest";
import type { WebhookRequest } from "../../src/library/types.ts";
import { createVerifier, sampleTransaction, signWebhook, WebhookError } from "../../src/library/webhooks.ts";
import { KEYS } from "../support/keys.ts";
import { LAMBDA_EVENTS, withoutLength, type SentRequest } from "../support/lambda-events.ts";

const verify = createVerifier({ key: KEYS.publicPem });

/** The outcome and warnings of a request, or the code of its refusal. */
const judged = (request: WebhookRequest): Promise<string> =>
  verify(request).then(
    ({ outcome, verdict }) =>
      [outcome, ...verdict.warnings.filter((one) => one.startsWith("content_length"))].join(" "),
    (error: unknown) => (error instanceof WebhookError ? error.code : String(error)),
  );

type Handle = (event: object, context: object) => Promise<{ body?: string | undefined }>;

/** An Express application that answers what it made of the request. */
function expressApp(...before: express.RequestHandler[]): express.Express {
  const app = express();
  for (const middleware of before) app.use(middleware);
  app.post("/webhooks/paylink", async (request, response) => {
    response.type("text").send(await judged(request));
  });
  return app;
}

function fastifyApp() {
  const app = fastify();
  app.addContentTypeParser("application/json", (_request, _payload, done) => done(null));
  app.post("/webhooks/paylink", async (request) => judged(request));
  return app;
}

const ADAPTERS: Readonly<Record<string, (app: express.Express) => Handle>> = {
  "serverless-http 3": (app) => serverlessHttp3(app),
  "serverless-http 4": (app) => serverlessHttp(app),
  "@vendia/serverless-express": (app) => vendia({ app }),
  "@codegenie/serverless-express": (app) => codegenie({ app }),
};

function sent(body = JSON.stringify(sampleTransaction("APPROVED"))): SentRequest {
  const { method, headers } = signWebhook(body, {
    key: KEYS.privateKey,
    url: "https://shop.example/webhooks/paylink",
  });
  return {
    method,
    target: "/webhooks/paylink",
    headers: Object.entries(headers),
    body: Buffer.from(body),
  };
}

const forged = (request: SentRequest): SentRequest => ({
  ...request,
  body: Buffer.from(Buffer.from(request.body).toString().replace('"amountTrans":10', '"amountTrans":99')),
});

describe.each(Object.entries(LAMBDA_EVENTS))("%s", (_, eventOf) => {
  const answers = async (handle: Handle) => {
    const answer = async (request: SentRequest): Promise<string | undefined> =>
      (await handle(eventOf(request), {})).body;
    return [await answer(sent()), await answer(withoutLength(sent())), await answer(forged(sent()))];
  };

  it.each(Object.entries(ADAPTERS))("leads to Express by %s", async (__, adapted) => {
    const [whole, dropped, refused] = await answers(adapted(expressApp()));
    expect([whole, refused]).toEqual(["APPROVED", "content_digest_mismatch"]);
    // The adapters write a length of their own.
    expect(dropped).toMatch(/^APPROVED/);
  });

  it("leads to Fastify by @fastify/aws-lambda", async () => {
    const [whole, dropped, refused] = await answers(
      awsLambdaFastify(fastifyApp(), { albMultiValueHeaders: true }),
    );
    expect([whole, refused]).toEqual(["APPROVED", "content_digest_mismatch"]);
    expect(dropped).toMatch(/^APPROVED/);
  });

  it("is taken as it is", async () => {
    expect(await judged(eventOf(sent()))).toBe("APPROVED");
    expect(await judged(eventOf(withoutLength(sent())))).toBe("APPROVED content_length_computed");
    expect(await judged(eventOf(forged(sent())))).toBe("content_digest_mismatch");
  });

  it("has its method, path and query", async () => {
    const url = "https://shop.example/webhooks/paylink?shop=1&name=a%20b";
    const cover = ["@method", "@target-uri", "content-digest"];
    const { headers, body } = signWebhook(sampleTransaction("DECLINED"), {
      key: KEYS.privateKey,
      url,
      cover,
    });
    const request = {
      method: "POST",
      target: "/webhooks/paylink?shop=1&name=a%20b",
      headers: Object.entries(headers),
      body: Buffer.from(body),
    };
    const verifyThere = createVerifier({ key: KEYS.publicPem, publicUrl: "https://shop.example/" });
    expect(await verifyThere(eventOf(request))).toMatchObject({ outcome: "DECLINED" });
    await expect(verifyThere(eventOf({ ...request, method: "GET" }))).rejects.toMatchObject({ status: 405 });
  });

  it("is refused if a field of the signature appears twice", async () => {
    const request = sent();
    for (const name of ["signature", "signature-input", "content-type"]) {
      const again = request.headers.find(([one]) => one.toLowerCase() === name);
      const twice = {
        ...request,
        headers: [...request.headers, ...(again === undefined ? [] : [[again[0], `${again[1]}x`] as const])],
      };
      expect(await judged(eventOf(twice))).toMatch(/^(?!APPROVED)/);
    }
  });
});
