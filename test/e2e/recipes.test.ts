/** The receivers of `paylink help webhooks` in JavaScript with the built library: they accept what others sign, and pass check. */
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { createVerifier, type LambdaEvent, type VerifierOptions } from "paylink-webhooks";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createApp as createExpress } from "../../src/texts/recipes/express.mjs";
import { createApp as createFastify } from "../../src/texts/recipes/fastify.mjs";
import { createApp as createHono } from "../../src/texts/recipes/hono.mjs";
import { createApp as createNode } from "../../src/texts/recipes/node.mjs";
import { book, booked, orders } from "../../src/texts/recipes/orders.mjs";
import { minorUnitsOf } from "../../src/domain/money.ts";
import { bodyOf, histories } from "../orders/vectors.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { LAMBDA_EVENTS, type SentRequest } from "../support/lambda-events.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { postWebhook, transactionRecord } from "../support/documented-webhook.ts";
import { webServer, type WebHandler } from "../support/web-server.ts";
import { webhook } from "../support/webhooks.ts";
import { KEYS, OTHER_KEYS } from "../support/keys.ts";

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

describe("orders.mjs", () => {
  const verify = createVerifier({ key: [KEYS.publicPem, OTHER_KEYS.publicPem] });

  it.each(histories.map((history) => [history.name, history] as const))(
    "books as it stands: %s",
    async (_, history) => {
      const { number, events, shop } = history;
      const { due } = shop;
      orders.set(number, {
        minorUnits: minorUnitsOf(String(due.amount), due.currency) ?? -1n,
        currency: due.currency,
      });
      onTestFinished(() => {
        orders.delete(number);
        booked.clear();
      });
      for (const event of events) {
        const { privateKey } = event.key === 2 ? OTHER_KEYS : KEYS;
        // How a shop finds an order whose number is spelled otherwise is its own affair.
        const set = { ...event.set, ...(number === "RE 7" ? { reference: number } : {}) };
        const body = bodyOf({ ...event, set }, history);
        const request = webhook("http://127.0.0.1/", body, { key: { keyid: null, key: privateKey } });
        book(await verify({ ...request, url: request.target }));
      }
      expect([...booked.keys()]).toEqual(shop.books ? [number] : []);
    },
  );
});

/** What the framework calls for a request, of a module that is loaded anew. */
const KEYLESS: Readonly<Record<string, () => Promise<(request: Request) => Promise<unknown>>>> = {
  "Next.js": async () => (await import("../../src/texts/recipes/next.mjs")).POST,
  "React Router": async () => {
    const { action } = await import("../../src/texts/recipes/react-router.mjs");
    return (request) => action({ request });
  },
  "AWS Lambda": async () => {
    const { handler } = await import("../../src/texts/recipes/lambda.mjs");
    return () => handler({ httpMethod: "POST", path: "/", requestContext: {} });
  },
};

it.each(Object.entries(KEYLESS))(
  "the receiver for %s is loaded without a key, as a build does, and says with the first webhook that it is missing",
  async (_, load) => {
    vi.stubEnv("PAYLINK_WEBHOOK_KEY", undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.resetModules();
    const receive = await load();
    const request = new Request("http://shop.test/webhooks/paylink", { method: "POST" });
    await expect(receive(request)).rejects.toThrow("The option key is missing");
  },
);

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
