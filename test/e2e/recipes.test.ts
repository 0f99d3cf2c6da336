/** The receivers of `paylink help webhooks` in JavaScript with the built library: they accept what others sign, and pass check. */
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import type { LambdaEvent, VerifierOptions } from "paylink-webhooks";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createApp as createExpress } from "../../src/texts/recipes/express.mjs";
import { createApp as createFastify } from "../../src/texts/recipes/fastify.mjs";
import { createApp as createHono } from "../../src/texts/recipes/hono.mjs";
import { createApp as createNode } from "../../src/texts/recipes/node.mjs";
import { booked, orders } from "../../src/texts/recipes/orders.mjs";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { LAMBDA_EVENTS, type SentRequest } from "../support/lambda-events.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { postWebhook, transactionRecord } from "../support/documented-webhook.ts";
import { webServer, type WebHandler } from "../support/web-server.ts";
import { KEYS } from "../support/keys.ts";

const SERVERS: Readonly<Record<string, (options: VerifierOptions) => Promise<Server>>> = {
  Express: async (options) => createServer(createExpress(options)),
  Fastify: async (options) => {
    const app = createFastify(options);
    await app.ready();
    return app.server;
  },
  Hono: async (options) => webServer(createHono(options).fetch),
  "node:http": async (options) => createNode(options),
};

/** What the receivers print: the outcome of each webhook, and the reason of each refusal. */
let printed: string[];
beforeEach(() => {
  printed = [];
  vi.spyOn(console, "log").mockImplementation((...words) => void printed.push(words.join(" ")));
  vi.spyOn(console, "warn").mockImplementation(
    (message) => void printed.push(String(message).split(":")[0] ?? ""),
  );
});

async function start(name: string, options: VerifierOptions): Promise<string> {
  const create = SERVERS[name];
  if (create === undefined) throw new Error(`There is no receiver ${name}`);
  return listening(await create(options));
}

async function listening(server: Server): Promise<string> {
  return `http://127.0.0.1:${await listenOnFreePort(server)}/webhooks/paylink`;
}

describe.each(Object.keys(SERVERS))("the receiver for %s", (name) => {
  it("accepts a webhook that another implementation signed", async () => {
    const url = await start(name, { key: KEYS.publicPem });
    const payment = { reference: "INV-1", terminalId: "1", amount: 10, currency: "EUR", number: 1 };
    const body = transactionRecord({ ...payment, outcome: "approved" });
    expect(await postWebhook({ url, body, key: KEYS.privateKey })).toMatchObject({ status: 200 });
    expect(printed).toEqual([expect.stringMatching(/^APPROVED /)]);
  });

  it("passes paylink check", async () => {
    await expectChecked(await start(name, { key: KEYS.publicPem }));
  });
});

/** What the framework calls, which reads the key as it is loaded, or with its first request. */
const HANDLERS: Readonly<Record<string, () => Promise<WebHandler>>> = {
  "Next.js": async () => (await import("../../src/texts/recipes/next.mjs")).POST,
  "React Router": async () => {
    const { action } = await import("../../src/texts/recipes/react-router.mjs");
    return (request) => action({ request });
  },
  ...Object.fromEntries(
    Object.entries(LAMBDA_EVENTS).map(([name, eventOf]) => [
      `AWS Lambda behind ${name}`,
      () => Promise.resolve(lambdaServer(eventOf)),
    ]),
  ),
  "Cloudflare Workers": async () => {
    const { default: worker } = await import("../../src/texts/recipes/workers.mjs");
    return (request) => worker.fetch(request, { PAYLINK_WEBHOOK_KEY: KEYS.publicPem });
  },
};

/** The function behind the gateway that makes this event of a request. */
const lambdaServer =
  (eventOf: (request: SentRequest) => LambdaEvent): WebHandler =>
  async (request) => {
    const { handler } = await import("../../src/texts/recipes/lambda.mjs");
    const { statusCode } = await handler(
      eventOf({
        method: request.method,
        target: new URL(request.url).pathname,
        headers: [...request.headers],
        body: new Uint8Array(await request.arrayBuffer()),
      }),
    );
    return new Response(null, { status: statusCode });
  };

describe.each(Object.entries(HANDLERS))("the receiver for %s", (_, load) => {
  it("refuses GET, and passes paylink check", async () => {
    vi.stubEnv("PAYLINK_WEBHOOK_KEY", KEYS.publicPem);
    onTestFinished(() => void vi.unstubAllEnvs());
    const url = await listening(webServer(await load()));
    expect(await fetch(url)).toMatchObject({ status: 405 });
    await expectChecked(url);
  });
});

async function expectChecked(url: string): Promise<void> {
  const home = temporaryHome();
  const key = join(home, "private.pem");
  writeFileSync(key, KEYS.privatePem);
  const { exit, stderr } = await runCommand(["check", url, "--sign-with", key], { home });
  expect({ exit, stderr }).toMatchObject({ exit: 0 });
}

it.each([
  ["the part first", "P-1", 1],
  ["the rest first", "P-2", 2],
])("books an order that is paid in two parts: %s", async (first, reference, run) => {
  orders.set(reference, { minorUnits: 1000n, currency: "EUR" });
  onTestFinished(() => {
    orders.delete(reference);
    booked.clear();
  });
  const url = await start("Express", { key: KEYS.publicPem });
  const pay = async (amount: number, transPartiallyApproved: boolean): Promise<void> => {
    const payment = { reference, terminalId: "1", amount, currency: "EUR", number: 10 * run + amount };
    const body = { ...transactionRecord({ ...payment, outcome: "approved" }), transPartiallyApproved };
    expect(await postWebhook({ url, body, key: KEYS.privateKey })).toMatchObject({ status: 200 });
  };
  const parts = [() => pay(4, true), () => pay(6, false)];
  const [one, other] = first === "the part first" ? parts : parts.toReversed();
  await one?.();
  expect([...booked.keys()]).toEqual([]);
  await other?.();
  expect([...booked.keys()]).toEqual([reference]);
});

it("books each order once, whatever check pays", async () => {
  const home = temporaryHome();
  const key = join(home, "private.pem");
  writeFileSync(key, KEYS.privatePem);
  const numbers = ["A-1", "A-2", "A-3", "A-4", "A-5"];
  for (const number of numbers) orders.set(number, { minorUnits: 2550n, currency: "EUR" });
  onTestFinished(() => {
    for (const number of numbers) orders.delete(number);
    booked.clear();
  });
  const file = join(home, "orders.csv");
  writeFileSync(
    file,
    ["order,amount,currency", ...numbers.map((number) => `${number},25.50,EUR`)].join("\n"),
  );
  const books = createServer((_, response) =>
    response.end(["order,amount", ...[...booked.keys()].map((number) => `${number},25.50`)].join("\n")),
  );
  const address = `http://127.0.0.1:${await listenOnFreePort(books)}/`;
  const print = `"${process.execPath}" -e "fetch('${address}').then((r) => r.text()).then(console.log)"`;
  const url = await start("Express", { key: KEYS.publicPem });
  const flags = ["--sign-with", key, "--orders", file, "--books", print];
  const { exit, stdout, stderr } = await runCommand(["check", url, ...flags], { home });
  // Three of them get a wrong payment alone.
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  expect(stdout).toContain("✓ books: 2 of 8 orders are booked, each as it was paid");
});
