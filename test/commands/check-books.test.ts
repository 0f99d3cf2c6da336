/** `paylink check --books`, in process: what an application has booked after copies, late and forged webhooks. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import type { VerifiedWebhook } from "../../src/library/types.ts";
import { createVerifier, WebhookError } from "../../src/library/webhooks.ts";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { runCommand, type CommandEnd } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { readmeBlock } from "../support/readme.ts";
import { privateKeyFile, KEYS } from "../support/keys.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { usePostgres } from "../support/postgres.ts";
import { workOnOrder } from "../support/slow-order.ts";

type Book = (webhook: VerifiedWebhook) => unknown;

/** An application that verifies each webhook, and books with the function. */
async function startShop(book: Book): Promise<string> {
  const verify = createVerifier({ key: KEYS.publicPem });
  const server = createServer((request, response) => {
    void verify(request)
      .then(book)
      .then(() => 200)
      .catch((error: unknown) => (error instanceof WebhookError ? error.status : 500))
      .then((status) => response.writeHead(status).end());
  });
  return `http://127.0.0.1:${await listenOnFreePort(server)}/`;
}

interface Payment {
  readonly uti: string;
  readonly reference: string;
  readonly amount: string;
  readonly currency: string;
}

/** What a webhook pays; undefined unless it is approved. */
function paymentOf({ outcome, transaction, amounts }: VerifiedWebhook): Payment | undefined {
  const { uti = "", reference = "" } = transaction;
  const { currency = "" } = amounts.amountTrans;
  if (outcome !== "APPROVED") return undefined;
  return { uti, reference, amount: String(transaction.amountTrans), currency };
}

/** A list of bookings in memory, as a file that the command prints. */
function memoryBooks(home: string, header = "order number,amount,currency") {
  const path = join(home, "booked.csv");
  const rows: Payment[] = [];
  const save = (): void =>
    writeFileSync(
      path,
      [header, ...rows.map((row) => `${row.reference},${row.amount},${row.currency}`), ""].join("\n"),
    );
  save();
  return {
    rows,
    command: `cat ${path}`,
    add: (payment: Payment): void => {
      rows.push(payment);
      save();
    },
  };
}

const checkBooks = (home: string, url: string, command: string, ...flags: string[]): Promise<CommandEnd> =>
  runCommand(["check", url, "--sign-with", privateKeyFile(home), "--books", command, ...flags], { home });

const oneLine = (text: string): string => text.replace(/\s+/g, " ");

describe("an application with SQLite", () => {
  const start = async (unique: string, insert: string) => {
    const home = temporaryHome();
    const path = join(home, "shop.db");
    const database = openEventDatabase(path);
    onTestFinished(() => database.close());
    database.exec(`CREATE TABLE bookings (uti TEXT ${unique}, reference TEXT, amount TEXT, currency TEXT)`);
    const url = await startShop(async (webhook) => {
      const payment = paymentOf(webhook);
      if (payment === undefined) return;
      const { uti, reference, amount, currency } = payment;
      const found = database.prepare("SELECT 1 FROM bookings WHERE uti = ?").get(uti);
      await workOnOrder();
      if (found === undefined) database.prepare(insert).run(uti, reference, amount, currency);
    });
    const script = join(home, "books.cjs");
    const sqlite = createRequire(import.meta.url).resolve("@photostructure/sqlite");
    writeFileSync(
      script,
      `const { DatabaseSync } = require(${JSON.stringify(sqlite)});
       const rows = new DatabaseSync(${JSON.stringify(path)}).prepare("SELECT * FROM bookings").all();
       for (const { reference, amount, currency } of rows) console.log(JSON.stringify({ order: reference, total: amount, currency }));`,
    );
    return { home, url, command: `"${process.execPath}" ${script}` };
  };

  it("that checks first and then books fails: it books copies twice", async () => {
    const { home, url, command } = await start("", "INSERT INTO bookings VALUES (?, ?, ?, ?)");
    const junit = join(home, "report.xml");
    const { exit, stdout, stderr } = await checkBooks(home, url, command, "--junit", junit);
    expect(exit).toBe(10);
    const [, shown = ""] = readmeBlock("console", "$ paylink check").split("\n");
    expect(shown).toContain("was booked 5 times");
    const ofAnyRun = (text: string): string => text.replace(/CHECK-\w+-\d+/g, "CHECK");
    expect(ofAnyRun(stdout)).toContain(ofAnyRun(shown));
    expect(oneLine(stderr)).toContain("Let the database decide: a unique column");
    const report = readFileSync(junit, "utf8");
    expect(report).toMatch(/classname="paylink\.check\.books" name="storm CHECK-[^"]*">/);
    expect(report).toMatch(/was booked twice: the endpoint received the same webhook twice at the same time/);
  });

  it("with a unique column passes", async () => {
    const insert = "INSERT INTO bookings VALUES (?, ?, ?, ?) ON CONFLICT (uti) DO NOTHING";
    const { home, url, command } = await start("UNIQUE", insert);
    const { exit, stdout, stderr } = await checkBooks(home, url, command);
    expect({ exit, stderr }).toMatchObject({ exit: 0, stderr: expect.stringContaining("Not examined") });
    expect(stdout).toMatch(/^✓ books: \d+ of \d+ orders are booked, each as it was paid$/m);
  });
});

describe("an application with PostgreSQL", () => {
  const server = usePostgres();
  const start = async (unique: string, insert: string) => {
    const home = temporaryHome();
    const url = await server().createDatabase();
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    onTestFinished(() => pool.end());
    await pool.query(
      `CREATE TABLE bookings (uti TEXT ${unique}, reference TEXT, amount NUMERIC, currency TEXT)`,
    );
    const shop = await startShop(async (webhook) => {
      const payment = paymentOf(webhook);
      if (payment === undefined) return;
      const { rowCount } = await pool.query("SELECT 1 FROM bookings WHERE uti = $1", [payment.uti]);
      await workOnOrder();
      if (rowCount === 0) await pool.query(insert, Object.values(payment));
    });
    const books = `psql "${url}" --csv -c 'SELECT reference AS "Order No", amount, currency FROM bookings'`;
    return { home, shop, books };
  };

  it("that checks first and then books fails: it books copies twice", async () => {
    const { home, shop, books } = await start("", "INSERT INTO bookings VALUES ($1, $2, $3, $4)");
    const { exit, stdout } = await checkBooks(home, shop, books, "--json");
    expect(exit).toBe(10);
    const { books: found } = JSON.parse(stdout) as {
      readonly books: {
        readonly findings: readonly { readonly finding: string; readonly message: string }[];
      };
    };
    expect(new Set(found.findings.map(({ finding }) => finding))).toEqual(new Set(["twice"]));
    expect(found.findings.some(({ message }) => message.includes("at the same time"))).toBe(true);
  });

  it("with a unique column passes", async () => {
    const insert = "INSERT INTO bookings VALUES ($1, $2, $3, $4) ON CONFLICT (uti) DO NOTHING";
    const { home, shop, books } = await start("UNIQUE", insert);
    expect(await checkBooks(home, shop, books)).toMatchObject({ exit: 0 });
  });
});

describe("the books", () => {
  const findingsOf = async (book: (payment: Payment, all: Payment[]) => void, approvedAlone = true) => {
    const home = temporaryHome();
    const books = memoryBooks(home);
    const utis = new Set<string>();
    const url = await startShop((webhook) => {
      const { uti = "", reference = "", amountTrans } = webhook.transaction;
      if (approvedAlone && webhook.outcome !== "APPROVED") return;
      if (utis.has(uti)) return;
      utis.add(uti);
      book({ uti, reference, amount: String(amountTrans), currency: "EUR" }, books.rows);
      books.add({ uti: "", reference: "SOMETHING-ELSE", amount: "1", currency: "EUR" });
    });
    return checkBooks(home, url, books.command);
  };

  it("pass with other rows in them", async () => {
    expect(await findingsOf((payment, all) => void all.push(payment))).toMatchObject({ exit: 0 });
  });

  it("fail with another amount", async () => {
    const { exit, stdout } = await findingsOf((payment, all) => void all.push({ ...payment, amount: "1.5" }));
    expect(exit).toBe(10);
    expect(stdout).toMatch(
      /books: CHECK-\w+-01 is booked with EUR 1\.50, and EUR 10\.50 was paid: the endpoint received an approved payment of a one-time link\./,
    );
  });

  it("fail with what was declined", async () => {
    const { exit, stdout } = await findingsOf((payment, all) => void all.push(payment), false);
    expect(exit).toBe(10);
    expect(stdout).toMatch(
      /asks for EUR 10\.50, was not paid, and is booked with EUR 10\.50: the endpoint received a declined payment of a one-time link\. Nothing must be booked\./,
    );
  });

  it("fail without a payment, and name --orders", async () => {
    const { exit, stdout, stderr } = await findingsOf(() => undefined);
    expect(exit).toBe(10);
    expect(stdout).toMatch(
      /CHECK-\w+-01 was paid \(EUR 10\.50\), and is not booked: the endpoint received an/,
    );
    expect(oneLine(stderr)).toContain("name some with --orders");
  });

  it("may be written after the answer", async () => {
    const home = temporaryHome();
    const books = memoryBooks(home);
    const utis = new Set<string>();
    const url = await startShop((webhook) => {
      const payment = paymentOf(webhook);
      if (payment === undefined || utis.has(payment.uti)) return;
      utis.add(payment.uti);
      setTimeout(() => books.add(payment), 700);
    });
    expect(await checkBooks(home, url, books.command)).toMatchObject({ exit: 0 });
  });
});

describe("an application that knows its orders", () => {
  const ORDERS = "Invoice,Total,Currency\nA-1,10.00,EUR\nA-2,25,GBP\nA-3,1000,JPY\n";

  /** Books an order once, if `pays` says that a payment pays it. */
  const start = async (
    pays: (payment: Payment, order: { readonly amount: string; readonly currency: string }) => boolean,
    orders = ORDERS,
  ) => {
    const home = temporaryHome();
    const file = join(home, "orders.csv");
    writeFileSync(file, orders);
    const known = new Map(
      orders
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.split(","))
        .map(([number = "", amount = "", currency = ""]) => [number, { amount, currency }]),
    );
    const books = memoryBooks(home);
    const url = await startShop((webhook) => {
      const payment = paymentOf(webhook);
      const order = payment && known.get(payment.reference);
      if (payment !== undefined && order !== undefined && pays(payment, order)) books.add(payment);
    });
    const run = (...flags: string[]) => checkBooks(home, url, books.command, "--orders", file, ...flags);
    return { run, books };
  };

  const booked = new Set<string>();
  const once = ({ reference }: Payment): boolean =>
    !booked.has(reference) && booked.add(reference) !== undefined;
  const isAmount = (payment: Payment, order: { readonly amount: string }): boolean =>
    Number(payment.amount) === Number(order.amount);

  it.each([
    ["three orders", ORDERS],
    ["one order", "Invoice,Total,Currency\nA-1,10.00,EUR\n"],
  ])("passes with %s, and again", async (_, orders) => {
    booked.clear();
    const { run } = await start(
      (payment, order) => isAmount(payment, order) && payment.currency === order.currency && once(payment),
      orders,
    );
    expect(await run()).toMatchObject({ exit: 0 });
    const again = await run();
    expect(again).toMatchObject({ exit: 0, stderr: expect.stringContaining("already booked. ") });
  });

  it.each<[string, Parameters<typeof start>[0], RegExp]>([
    [
      "takes any amount",
      (payment, order) => payment.currency === order.currency && once(payment),
      /is booked with (?:EUR|GBP|JPY)/,
    ],
    [
      "takes any currency",
      (payment, order) => isAmount(payment, order) && once(payment),
      /A-2 asks for GBP 25\.00, was not paid, and is booked with EUR 25\.00: the endpoint received a payment in another currency/,
    ],
    [
      "books every payment",
      (payment, order) => isAmount(payment, order) && payment.currency === order.currency,
      /was booked \d+ times/,
    ],
  ])("fails if it %s", async (_, pays, words) => {
    booked.clear();
    const { run } = await start(pays);
    const { exit, stdout } = await run();
    expect(exit).toBe(10);
    expect(stdout).toMatch(words);
  });

  it.each([
    ["A-1,10.00,EUR\nA-1,20.00,EUR", "repeats the order A-1"],
    ["A-1,0,EUR", "must have an amount above 0"],
    ["A-1,10.00,", "Currency is empty"],
    ["", "contains no order"],
  ])("is not checked with %j", async (rows, words) => {
    const { run } = await start(() => true, `Invoice,Total,Currency\n${rows}\n`);
    const { exit, stderr } = await run();
    expect(exit).toBe(2);
    expect(oneLine(stderr)).toContain(words);
  });
});

describe("a command", () => {
  it.each([
    ["exit 3", "it ended with exit code 3"],
    ["echo 'no such table' >&2; exit 1", "no such table"],
    ["no-such-program-at-all", "it ended with exit code 127"],
    ["echo amount,b; echo 1,2", "must have a column for the order number"],
  ])("%s says nothing about the books", async (command, words) => {
    const home = temporaryHome();
    const url = await startShop(() => undefined);
    const { exit, stderr } = await checkBooks(home, url, command);
    expect(exit).toBe(2);
    expect(oneLine(stderr)).toContain(words);
  });

  it("counts less than an endpoint that fails", async () => {
    const home = temporaryHome();
    const url = await startShop((webhook) => {
      if (webhook.outcome === "DECLINED") throw new Error("no");
    });
    const { exit, stderr } = await checkBooks(home, url, "exit 3");
    expect(exit).toBe(7);
    expect(oneLine(stderr)).toContain("What is booked is not known");
  });
});
