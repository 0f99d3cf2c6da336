/** Requests as frameworks and applications pass them on: their members of every type, hostile ones, and bodies that are read in other ways. */
import { createServer, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import express from "express";
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import rawBody from "fastify-raw-body";
import { describe, expect, it } from "vitest";
import type { WebhookRequest } from "../../src/library/types.ts";
import { createVerifier, sampleTransaction, signWebhook, WebhookError } from "../../src/library/webhooks.ts";
import { KEYS } from "../support/keys.ts";
import { listenOnFreePort } from "../support/ports.ts";

const url = "https://shop.example/webhooks";
const verify = createVerifier({ key: KEYS.publicPem });
const signed = (body = JSON.stringify(sampleTransaction("APPROVED"))) =>
  signWebhook(body, { key: KEYS.privateKey, url });

/** The outcome, or the code of the refusal; a TypeError is thrown. */
const judged = (request: unknown): Promise<string> =>
  verify(request as WebhookRequest).then(
    ({ outcome }) => outcome,
    (error: unknown) => {
      if (error instanceof WebhookError) return error.code;
      throw error;
    },
  );

/** A request of Node as an adapter makes it: a stream without a list of lines. */
function adapted(headers: unknown, body: string, members: object = {}): object {
  const stream = Readable.from([Buffer.from(body)], { objectMode: false });
  return Object.assign(stream, { method: "POST", url: "/webhooks", rawHeaders: [], headers, ...members });
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

describe("header values", () => {
  it("are those of headers if a Node request has no rawHeaders", async () => {
    const { headers, body } = signed();
    const named = lowerCase(headers);
    const length = Number(named["content-length"]);
    for (const given of [
      named,
      headers,
      { ...named, "content-length": length },
      { ...headers, "content-length": length },
      { ...named, "signature-input": [named["signature-input"]] },
      { ...named, "x-empty": null, "x-none": undefined },
      new Map(Object.entries(named)),
      new Headers(named),
    ]) {
      expect(await judged(adapted(given, body))).toBe("APPROVED");
      expect(await judged(adapted(given, body, { rawHeaders: undefined }))).toBe("APPROVED");
      expect(await judged({ method: "POST", url, headers: given, body })).toBe("APPROVED");
    }
    const flat = Object.entries(headers).flat();
    expect(await judged(adapted({ signature: "sig1=::" }, body, { rawHeaders: flat }))).toBe("APPROVED");
  });

  it("that are not text are a TypeError that names the member", async () => {
    const { headers, body } = signed();
    for (const value of [true, {}, [{}], [["a"]], Symbol("s"), () => "x", Buffer.from("x")])
      for (const request of [
        adapted({ ...headers, "x-a": value }, body),
        { method: "POST", url, headers: { ...headers, "x-a": value }, body },
      ])
        await expect(judged(request)).rejects.toThrow(/^headers\["x-a"\] of the request/);
    await expect(judged({ method: "POST", url, headers: [["a"], "b"], body })).rejects.toThrow("headers[1]");
    await expect(judged(adapted(headers, body, { rawHeaders: ["a", {}] }))).rejects.toThrow("rawHeaders[1]");
    for (const missing of ["method", "url"])
      await expect(judged({ ...signed(), [missing]: undefined })).rejects.toThrow(
        `its ${missing} is not text`,
      );
  });

  it("on two lines are never joined", async () => {
    const { headers, body } = signed();
    const named = lowerCase(headers);
    for (const name of ["signature", "signature-input", "content-digest", "content-type"]) {
      const twice = { ...named, [name]: [named[name], named[name]] };
      expect(await judged(adapted(twice, body))).not.toBe("APPROVED");
      expect(await judged(adapted({ ...named, [name.toUpperCase()]: named[name] }, body))).not.toBe(
        "APPROVED",
      );
    }
    const lengths = { ...named, "Content-Length": "1" };
    expect(await judged(adapted(lengths, body))).toBe("duplicate_header");
  });

  it("come from the request's own members alone", async () => {
    const { headers, body } = signed();
    const polluted: object = JSON.parse(
      JSON.stringify({ ...headers, __proto: 1 }).replace('"__proto"', '"__proto__"'),
    );
    expect(await judged(adapted(polluted, body))).toBe("APPROVED");
    expect(await judged(adapted(Object.create(headers), body))).toBe("unsigned");
    Object.assign(Object.prototype, { "signature-input": "sig1=()", signature: "sig1=::", "x-any": "1" });
    try {
      expect(await judged(adapted({}, body))).toBe("unsigned");
      expect(await judged(adapted(headers, body))).toBe("APPROVED");
    } finally {
      for (const name of ["signature-input", "signature", "x-any"])
        Reflect.deleteProperty(Object.prototype, name);
    }
  });
});

async function* chunksOf<T>(parts: readonly T[]): AsyncGenerator<T> {
  yield* parts;
}

describe("a body", () => {
  it("may be a stream or a Blob of its bytes", async () => {
    const { body, ...rest } = signed();
    const bytes = Buffer.from(body);
    const parts = [bytes.subarray(0, 10), bytes.subarray(10)];
    for (const given of [
      Readable.from(parts),
      Readable.from([body], { objectMode: false }),
      new Blob(parts),
      new Blob(parts).stream(),
      new Response(bytes).body,
      chunksOf(parts),
      chunksOf([body.slice(0, 10), body.slice(10)]),
    ])
      expect(await judged({ ...rest, body: given })).toBe("APPROVED");
    const large = Buffer.alloc(1024 * 1024 + 1);
    for (const given of [Readable.from([large]), new Blob([large]), new Blob([large]).stream()])
      expect(await judged({ ...rest, body: given })).toBe("body_too_large");
    for (const given of [new FormData(), new URLSearchParams(body), JSON.parse(body), [...bytes], 1, true])
      expect(await judged({ ...rest, body: given })).toBe("body_parsed");
    const read = new Blob(parts).stream();
    read.getReader();
    expect(await judged({ ...rest, body: read })).toBe("body_parsed");
  });

  it("is what was passed, whatever changes afterwards", async () => {
    const { body, ...rest } = signed();
    const bytes = Buffer.from(body);
    const verifying = verify({ ...rest, body: bytes });
    bytes.fill(0x20);
    expect(Buffer.from((await verifying).raw).toString()).toBe(body);
    const detached = new Uint8Array(Buffer.from(body)).buffer;
    const pending = judged({ ...rest, body: detached });
    structuredClone(detached, { transfer: [detached] });
    expect(await pending).toBe("APPROVED");
  });

  it("that a middleware has paused, or reads as text, is read", async () => {
    const before: ((request: IncomingMessage) => unknown)[] = [
      (request) => request.pause(),
      (request) => request.setEncoding("utf8"),
      (request) => request.setEncoding("latin1"),
      (request) => request.setEncoding("hex"),
    ];
    const app = express();
    for (const [at, prepare] of before.entries())
      app.post(`/${at}`, async (request, response) => {
        prepare(request);
        response.send(await judged(request));
      });
    const port = await listenOnFreePort(createServer(app));
    const webhook = signed(JSON.stringify(sampleTransaction("APPROVED", { reference: "Größe" })));
    for (const at of before.keys()) {
      const answer = await fetch(`http://127.0.0.1:${port}/${at}`, webhook);
      expect(await answer.text()).toBe("APPROVED");
    }
  });

  it("is not the empty one that a middleware begins with", async () => {
    const { headers, body } = signed();
    for (const members of [{ body: "" }, { rawBody: "" }, { rawBody: Buffer.alloc(0), body }])
      expect(await judged(adapted(headers, body, members))).toBe("APPROVED");
    expect(await judged(adapted({ host: "a.example" }, "", { body: Buffer.alloc(0) }))).toBe("unsigned");
  });

  it("that is not there, although its length is, is an error of the application", async () => {
    const { body, ...rest } = signed();
    const read = adapted(rest.headers, "", { rawBody: "", body: JSON.parse(body) as unknown });
    for (const request of [
      { ...rest, body: undefined },
      { ...rest, body: null },
      { ...rest, body: "" },
      read,
    ])
      await expect(verify(request as WebhookRequest)).rejects.toMatchObject({
        code: "body_parsed",
        status: 500,
      });
  });

  it("may have a getter that throws, which is never called", async () => {
    const { headers, body } = signed();
    const request = adapted(headers, body);
    Object.defineProperty(request, "body", {
      get: () => {
        throw new Error("Invalid JSON");
      },
    });
    expect(await judged(request)).toBe("APPROVED");
    const other = JSON.stringify(sampleTransaction("DECLINED"));
    let asked = 0;
    const changing = {
      method: "POST",
      url,
      headers,
      get body() {
        return asked++ === 0 ? body : other;
      },
    };
    expect(await judged(changing)).toBe("APPROVED");
  });

  it("is read once, is gone the second time, and is not mixed up between simultaneous requests", async () => {
    const answers: string[] = [];
    const app = express();
    app.post("/twice", async (request, response) => {
      answers.push(await judged(request), await judged(request));
      response.end();
    });
    app.post("/once", async (request, response) => void response.send(await judged(request)));
    const port = await listenOnFreePort(createServer(app));
    await fetch(`http://127.0.0.1:${port}/twice`, signed());
    expect(answers).toEqual(["APPROVED", "body_parsed"]);
    const genuine = signed();
    const forged = { ...genuine, body: genuine.body.replace("EUR", "GBP") };
    const sent = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? signed() : forged));
    const texts = await Promise.all(
      sent.map(async (webhook) => (await fetch(`http://127.0.0.1:${port}/once`, webhook)).text()),
    );
    expect(texts).toEqual(sent.map((one) => (one === forged ? "content_digest_mismatch" : "APPROVED")));
  });

  it.each([64 * 1024, 64 * 1024 + 1, 1024 * 1024, 1024 * 1024 + 1])("has %d bytes", async (size) => {
    const record = JSON.stringify({ ...sampleTransaction("APPROVED"), note: "" });
    const body = record.replace('"note":""', `"note":"${"x".repeat(size - record.length)}"`);
    const expected = size > 1024 * 1024 ? "body_too_large" : "APPROVED";
    expect(await judged(signed(body))).toBe(expected);
    expect(await judged(new Request(url, signed(body)))).toBe(expected);
    expect(await judged(adapted(signed(body).headers, body))).toBe(expected);
  });
});

describe("Fastify", () => {
  const post = async (
    prepare: (app: FastifyInstance) => unknown,
    of = (one: FastifyRequest): object => one,
  ) => {
    const app = fastify();
    await prepare(app);
    app.post("/webhooks", async (request) => judged(of(request)));
    const { method, headers, body } = signed();
    const { body: answer } = await app.inject({ method: method as "POST", url: "/webhooks", headers, body });
    await app.close();
    return answer;
  };
  const raw = (request: FastifyRequest) => request.raw;

  it("passes its own request, or Node's, if its parser leaves the body alone", async () => {
    const leave = (app: FastifyInstance) =>
      app.addContentTypeParser("application/json", (_request, _payload, done) => done(null));
    expect([await post(leave), await post(leave, raw)]).toEqual(["APPROVED", "APPROVED"]);
  });

  it("passes its own request where a middleware leaves the bytes with that of Node", async () => {
    for (const name of ["rawBody", "body"]) {
      const keep = (app: FastifyInstance) =>
        app.addHook("preParsing", async (request, _, payload) => {
          const bytes = await buffer(payload);
          Object.assign(request.raw, { [name]: bytes });
          return Readable.from([bytes], { objectMode: false });
        });
      expect(await post(keep)).toBe("APPROVED");
    }
  });

  it("passes its own request if a parser leaves the bytes", async () => {
    const keep = (app: FastifyInstance) =>
      app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, bytes, done) =>
        done(null, bytes),
      );
    expect(await post(keep)).toBe("APPROVED");
    expect(await post((app) => app.register(rawBody, { encoding: false, runFirst: true }))).toBe("APPROVED");
    expect(await post((app) => app.register(rawBody))).toBe("APPROVED");
    expect(await post(() => undefined)).toBe("body_parsed");
    expect(await post((app) => app.register(rawBody), raw)).toBe("body_parsed");
  });
});

describe("Netlify", () => {
  it("passes the event of its functions", async () => {
    const cover = ["@method", "@path", "@query", "content-digest"];
    const address = "https://shop.example/hook?shop=1&name=a%20b";
    const { headers, body } = signWebhook(sampleTransaction("DECLINED"), {
      key: KEYS.privateKey,
      url: address,
      cover,
    });
    const event = {
      httpMethod: "POST",
      path: "/hook",
      rawUrl: address,
      rawQuery: "shop=1&name=a%20b",
      queryStringParameters: { shop: "1", name: "a b" },
      headers: lowerCase(headers),
      body: Buffer.from(body).toString("base64"),
      isBase64Encoded: true,
    };
    expect(await verify(event)).toMatchObject({ outcome: "DECLINED" });
    expect(await judged({ ...event, rawQuery: "shop=2" })).toBe("signature_invalid");
  });
});
