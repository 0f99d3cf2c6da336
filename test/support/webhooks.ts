/** Webhooks as the service posts them, signed with the key of the tests, and a small application to forward them to. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { signedWebhook } from "../../src/sender/signed-webhook.ts";
import type { HttpRequest } from "../../src/http/message.ts";
import type { SigningKey } from "../../src/signatures/keys.ts";
import { SERVICE_COVER, type CoveredComponents } from "../../src/signatures/cover.ts";
import { KEYS } from "./keys.ts";
import { listenOnFreePort } from "./ports.ts";

export function record(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    uti: randomUUID(),
    transType: "SALE",
    transApproved: true,
    transCancelled: false,
    amountTrans: 10.5,
    transCurrencyCode: "EUR",
    reference: "INV-1",
    status: "Complete",
    ...changes,
  };
}

interface WebhookOptions {
  readonly key?: SigningKey;
  /** What the signature covers; by default what the real service signs. */
  readonly cover?: CoveredComponents;
  /** When it is signed; by default now. */
  readonly at?: Date;
}

/** A signed request to the URL, as bytes and header lines. */
export function webhook(
  url: string,
  body: Readonly<Record<string, unknown>> | Uint8Array,
  { key = { keyid: "k", key: KEYS.privateKey }, cover = SERVICE_COVER, at = new Date() }: WebhookOptions = {},
): HttpRequest {
  return signedWebhook(body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body)), {
    url: new URL(url),
    key,
    created: Math.floor(at.getTime() / 1000),
    form: { cover, created: true },
  });
}

/** The webhook with another currency in its body, which is as long as before. */
export const forged = (genuine: HttpRequest): HttpRequest => ({
  ...genuine,
  body: Buffer.from(Buffer.from(genuine.body).toString().replace("EUR", "USD")),
});

/** Posts it and gives the status. */
export async function post(url: string, request: HttpRequest): Promise<number> {
  return (await answerOf(url, request)).status;
}

/** The same with the headers of the answer. */
export async function answerOf(url: string, request: HttpRequest): Promise<Response> {
  const headers = request.headers.filter(([name]) => !["Host", "Content-Length"].includes(name));
  const reply = await fetch(url, {
    method: request.method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    body: Buffer.from(request.body),
  });
  await reply.arrayBuffer();
  return reply;
}

export interface Taken {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface App {
  readonly url: string;
  readonly taken: Taken[];
}

/** The merchant's application: remembers what it gets and answers as the test says. */
export async function startApp(
  answer: (taken: Taken, index: number) => number | Promise<number>,
): Promise<App> {
  const taken: Taken[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one = { url: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) };
      void Promise.resolve(answer(one, taken.push(one) - 1)).then((status) => {
        response.statusCode = status;
        response.end(status === 200 ? "" : "x".repeat(600));
      });
    });
  });
  const port = await listenOnFreePort(server);
  return { url: `http://127.0.0.1:${port}/hook?a=b`, taken };
}
