/** `paylink check`, in process: what its last lines say of the mistakes that applications make, in Express and in Hono. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import express from "express";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import type { VerifiedWebhook } from "../../src/library/types.ts";
import { createVerifier, WebhookError } from "../../src/library/webhooks.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { KEYS, OTHER_KEYS, privateKeyFile } from "../support/keys.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { webServer } from "../support/web-server.ts";

const PATH = "/webhooks/paylink";

interface Shop {
  readonly key: string;
  /** The body is parsed before the webhook's route. */
  readonly parsesFirst: boolean;
  /** What is verified is the body as it is parsed and serialised again. */
  readonly verifiesCopy: boolean;
  /** The answer comes before the payment is booked. */
  readonly answersFirst: boolean;
  readonly book: (webhook: VerifiedWebhook) => unknown;
}

/** Some applications answer what the library says, others the status alone. */
type Answers = "problem" | "status";

/** Starts a shop, and gives its origin. */
const FRAMEWORKS: Readonly<Record<string, (shop: Shop, answers: Answers) => Promise<number>>> = {
  Express: ({ key, parsesFirst, verifiesCopy, answersFirst, book }, answers) => {
    const verify = createVerifier({ key });
    const app = express();
    if (parsesFirst || verifiesCopy) app.use(express.json());
    app.post(PATH, async (request, response) => {
      try {
        const { method, originalUrl: url, rawHeaders, headers } = request;
        const copy = { method, url, rawHeaders, headers, body: JSON.stringify(request.body) };
        const webhook = await verify(verifiesCopy ? copy : request);
        if (answersFirst) response.sendStatus(200);
        await book(webhook);
        if (!answersFirst) response.sendStatus(200);
      } catch (error) {
        if (!(error instanceof WebhookError)) throw error;
        if (answers === "status") response.sendStatus(error.status);
        else response.status(error.status).json(error.problem);
      }
    });
    app.use(express.json());
    return listenOnFreePort(createServer(app));
  },
  Hono: ({ key, parsesFirst, verifiesCopy, answersFirst, book }, answers) => {
    const verify = createVerifier({ key });
    const app = new Hono();
    app.post(PATH, async (context) => {
      if (parsesFirst) await context.req.json().catch(() => undefined);
      try {
        const { method, url, headers } = context.req.raw;
        const copy = async () => JSON.stringify(await context.req.json().catch(() => ({})));
        const webhook = await verify(
          verifiesCopy ? { method, url, headers, body: await copy() } : context.req.raw,
        );
        const booked = Promise.resolve(book(webhook));
        if (!answersFirst) await booked;
        return context.body(null, 200);
      } catch (error) {
        if (!(error instanceof WebhookError)) throw error;
        if (answers === "status") return new Response(null, { status: error.status });
        return Response.json(error.problem, { status: error.status });
      }
    });
    return listenOnFreePort(webServer((request) => Promise.resolve(app.fetch(request))));
  },
};

/** Each asks for EUR 10.00. */
const ORDERS: ReadonlySet<string> = new Set(["A-1", "A-2", "A-3", "A-4", "A-5"]);

/** The books of a shop that knows its orders, and what `check` needs to read them. */
function openBooks() {
  const home = temporaryHome();
  const [books, orders] = [join(home, "booked.csv"), join(home, "orders.csv")];
  const rows: string[] = [];
  const save = () => writeFileSync(books, ["order number,amount,currency", ...rows, ""].join("\n"));
  save();
  writeFileSync(
    orders,
    ["order number,amount,currency", ...[...ORDERS].map((number) => `${number},10.00,EUR`), ""].join("\n"),
  );
  return {
    home,
    add: (number: string, amount: string): void => {
      rows.push(`${number},${amount},EUR`);
      save();
    },
    flags: ["--books", `cat ${books}`, "--orders", orders],
  };
}

type Books = ReturnType<typeof openBooks>;

/** Books an approved payment of an order once, if amount and currency are those of the order. */
function rightly({ add }: Books): Shop["book"] {
  const booked = new Set<string>();
  return ({ outcome, transaction: { reference = "" }, amounts: { amountTrans } }) => {
    const isRight = amountTrans.minorUnits === 1000n && amountTrans.currency === "EUR";
    if (outcome !== "APPROVED" || !ORDERS.has(reference) || !isRight || booked.has(reference)) return;
    booked.add(reference);
    add(reference, "10.00");
  };
}

/** What a person sees last. */
async function lastLines(start: (books: Books) => Promise<number>, path = PATH, flags?: readonly string[]) {
  const books = openBooks();
  const url = `http://127.0.0.1:${await start(books)}${path}`;
  const args = ["check", url, "--sign-with", privateKeyFile(books.home), ...(flags ?? books.flags)];
  const { exit, stdout, stderr } = await runCommand(args, { home: books.home });
  const lines = `${stdout}${stderr}`.trimEnd().split("\n").slice(-24);
  return { exit, shown: lines.join(" ").replace(/\s+/g, " ") };
}

const RIGHT = { key: KEYS.publicPem, parsesFirst: false, verifiesCopy: false, answersFirst: false };
const CAUSES: readonly Answers[] = ["problem", "status"];

describe.each(Object.entries(FRAMEWORKS))("a shop with %s", (_, start) => {
  it("that makes no mistake passes, and is told what was not examined", async () => {
    const { exit, shown } = await lastLines((books) => start({ ...RIGHT, book: rightly(books) }, "problem"));
    expect({ exit, shown }).toMatchObject({ exit: 0, shown: expect.stringMatching(/all \d+ cases passed/) });
  });

  it.each(CAUSES)("that parses the body first (%s)", async (answers) => {
    const { exit, shown } = await lastLines((books) =>
      start({ ...RIGHT, parsesFirst: true, book: rightly(books) }, answers),
    );
    expect(exit).toBe(7);
    expect(shown).toContain("accepts no genuine webhook");
    expect(shown).toContain("the body is parsed before the webhook's route");
    expect(shown).not.toContain("Does it verify with this key");
  });

  it("that verifies a copy of the body", async () => {
    const { exit, shown } = await lastLines((books) =>
      start({ ...RIGHT, verifiesCopy: true, book: rightly(books) }, "problem"),
    );
    expect(exit).toBe(7);
    expect(shown).toContain("An endpoint that parses and serialises before it verifies refuses genuine");
    expect(shown).not.toContain("Does it verify with this key");
  });

  it("that is asked at a wrong path", async () => {
    const { exit, shown } = await lastLines(
      (books) => start({ ...RIGHT, book: rightly(books) }, "problem"),
      "/nothere",
    );
    expect(exit).toBe(7);
    expect(shown).toContain("It serves nothing at this path");
    expect(shown).not.toContain("Does it verify with this key");
  });

  it.each(CAUSES)("that has another key (%s)", async (answers) => {
    const { exit, shown } = await lastLines((books) =>
      start({ ...RIGHT, key: OTHER_KEYS.publicPem, book: rightly(books) }, answers),
    );
    expect(exit).toBe(7);
    expect(shown).toMatch(/Does it verify with this key\? the public key of .+\.pem/);
  });

  it("that books copies again", async () => {
    const { exit, shown } = await lastLines(({ add }) =>
      start(
        {
          ...RIGHT,
          book: ({ outcome, transaction: { reference = "" }, amounts: { amountTrans } }) => {
            const isRight = amountTrans.minorUnits === 1000n && amountTrans.currency === "EUR";
            if (outcome === "APPROVED" && ORDERS.has(reference) && isRight) add(reference, "10.00");
          },
        },
        "problem",
      ),
    );
    expect(exit).toBe(10);
    expect(shown).toMatch(/was booked \w+( times)?:/);
    expect(shown).toContain("Let the database decide: a unique column");
  });

  it("that takes any amount for the order's, and books the order's", async () => {
    const { exit, shown } = await lastLines(({ add }) => {
      const booked = new Set<string>();
      const book: Shop["book"] = ({ outcome, transaction: { reference = "" } }) => {
        const isPaid = outcome === "APPROVED" || outcome === "PARTIALLY_APPROVED";
        if (!isPaid || !ORDERS.has(reference) || booked.has(reference)) return;
        booked.add(reference);
        add(reference, "10.00");
      };
      return start({ ...RIGHT, book }, "problem");
    });
    expect(exit).toBe(10);
    expect(shown).toMatch(
      /asks for EUR 10\.00, was not paid, and is booked with EUR 10\.00: the endpoint received a payment of another amount than its order \(EUR 1\.00\)\. Nothing must be booked\./,
    );
    expect(shown).toContain("a payment in another currency than its order (GBP 10.00)");
    expect(shown).toContain("a payment of which only a part was approved (EUR 5.00). Book nothing before");
  });

  it("that answers before it stores", async () => {
    const { exit, shown } = await lastLines((books) => {
      const book = rightly(books);
      const later: Shop["book"] = async (webhook) => {
        await new Promise((resolve) => setTimeout(resolve, 400));
        book(webhook);
      };
      return start({ ...RIGHT, answersFirst: true, book: later }, "problem");
    });
    expect(exit).toBe(0);
    expect(shown).toContain("not booked yet when the answer came");
    expect(shown).toContain("store first, and then answer");
  });

  it("that answers, and then fails to store", async () => {
    const { exit, shown } = await lastLines(() =>
      start({ ...RIGHT, answersFirst: true, book: () => undefined }, "problem"),
    );
    expect(exit).toBe(10);
    expect(shown).toContain("is not booked");
    expect(shown).toContain("Answer 2xx only once a payment is stored");
  });

  it("that books parts as parts is right", async () => {
    const { exit, shown } = await lastLines((books) => {
      const book = rightly(books);
      return start(
        {
          ...RIGHT,
          book: (webhook) => {
            const { reference = "" } = webhook.transaction;
            if (webhook.outcome === "PARTIALLY_APPROVED" && ORDERS.has(reference))
              books.add(reference, webhook.amounts.amountTrans.text ?? "");
            else book(webhook);
          },
        },
        "problem",
      );
    });
    expect({ exit, shown }).toMatchObject({ exit: 0 });
  });
});

describe("an endpoint", () => {
  const verify = createVerifier({ key: KEYS.publicPem });
  const verified = (request: Request): Promise<number> =>
    verify(request).then(
      () => 200,
      () => 401,
    );

  it.each([
    ["that answers 204 to everything", () => new Response(null, { status: 204 }), "it does not verify"],
    [
      "that verifies nothing, of a framework whose texts are HTML",
      () => new Response("ok", { headers: { "Content-Type": "text/html" } }),
      "it does not verify",
    ],
    [
      "that answers with the start page of a front end",
      () => new Response("<!doctype html><h1>Shop</h1>"),
      "this is not the path of a webhook endpoint",
    ],
    [
      "that redirects to a login",
      () => new Response(null, { status: 302, headers: { Location: "/login" } }),
      "It redirects to /login, which looks like a login",
    ],
  ])("%s", async (_, answer, cause) => {
    const { exit, shown } = await lastLines(() => listenOnFreePort(webServer(answer)), PATH, []);
    expect(exit).toBe(7);
    expect(shown).toContain(cause);
  });

  it.each<[what: string, answer: (request: Request) => Promise<number>, cause: string]>([
    [
      "whose clock is wrong",
      async (request) => {
        const [, created = "0"] = /created=(\d+)/.exec(request.headers.get("Signature-Input") ?? "") ?? [];
        if (created !== "0") return 401;
        return verified(request);
      },
      "the clock of its machine is wrong",
    ],
    [
      "that does not know the orders",
      async (request) => ((await verified(request)) === 200 ? 404 : 401),
      "after it has verified",
    ],
    [
      "whose condition is reversed",
      async (request) => ((await verified(request)) === 200 ? 401 : 200),
      "wrong way round",
    ],
    [
      "that limits how often it is called",
      (() => {
        let left = 10;
        return async (request: Request) => (left-- > 0 ? verified(request) : 429);
      })(),
      "It limits how often it is called",
    ],
  ])("%s", async (_, answer, cause) => {
    const server = webServer(async (request) => new Response(null, { status: await answer(request) }));
    const { exit, shown } = await lastLines(() => listenOnFreePort(server), PATH, []);
    expect(exit).toBe(7);
    expect(shown).toContain(cause);
    expect(shown).not.toContain("parses and serialises");
  });

  it("that ends at a forged webhook is to be started again", async () => {
    const server = webServer(async (request) => {
      const status = await verified(request);
      if (status !== 200) server.close().closeAllConnections();
      return new Response(null, { status });
    });
    const { exit, shown } = await lastLines(() => listenOnFreePort(server), PATH, []);
    expect(exit).toBe(7);
    expect(shown).toContain("Its log says why: start it again");
  });

  it("behind a proxy that rewrites Content-Type", async () => {
    const proxied = webServer(async (request) => {
      request.headers.set("Content-Type", "application/json");
      return new Response(null, { status: await verified(request) });
    });
    const { exit, shown } = await lastLines(() => listenOnFreePort(proxied), PATH, []);
    expect(exit).toBe(7);
    expect(shown).toContain("something on the way changes the body or a signed field such as Content-Type");
  });
});
