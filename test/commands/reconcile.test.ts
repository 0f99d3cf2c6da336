/** `paylink reconcile` where its sides meet the world: time zones, exports of spreadsheets, two accounts, and stores that forget. */
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { formatAmount } from "../../src/domain/money.ts";
import { formatLocal } from "../../src/render/layout.ts";
import { openSqlite } from "../support/event-stores.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { event, forward, idOf, KEYS, rejection } from "../support/stored-events.ts";

const NOW = new Date("2026-11-21T12:00:00Z");

interface Paid {
  readonly number: string;
  readonly at?: string;
  readonly amount?: number;
}

/** A service that lists these links as paid; gives its address. */
async function serviceWith(paid: readonly Paid[]): Promise<string> {
  const records = paid.map(({ number, at = "2026-11-21T10:00:00Z", amount = 10 }) => ({
    id: `id-${number}`,
    amount,
    currency: "EUR",
    invoiceId: number,
    createdDate: "2026-01-31T12:00:00Z",
    paidDate: at,
    status: "paid",
    url: "https://pay.example/?r=1",
  }));
  const server = createServer((request, response) => {
    const isFirst = new URL(request.url ?? "", "http://service").searchParams.get("page") === "1";
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ totalCount: records.length, records: isFirst ? records : [] }));
  });
  return `http://127.0.0.1:${await listenOnFreePort(server)}`;
}

interface Run {
  readonly paid: readonly Paid[];
  readonly args?: readonly string[];
  readonly books?: string;
  readonly now?: Date;
  readonly home?: string;
}

/** Runs it, without a key unless a flag names one, and gives its output with the text of the findings. */
async function reconcile({ paid, args = [], books, now = NOW, home = temporaryHome() }: Run) {
  const { exit, stdout, stderr } = await runCommand(
    [
      "reconcile",
      "--json",
      "--db",
      join(home, "events.db"),
      ...(books === undefined ? [] : ["--books", "-"]),
      ...args,
    ],
    {
      home,
      now: () => now,
      ...(books === undefined ? {} : { stdin: books }),
      env: { PAYLINK_BASE_URL: await serviceWith(paid), PAYLINK_TOKEN: "t", PAYLINK_TERMINAL_ID: "1" },
    },
  );
  const lines = jsonLines(stdout);
  return {
    exit,
    stdout,
    stderr,
    findings: lines
      .filter(({ type }) => type === "finding")
      .map(({ finding, invoiceId }) => `${String(finding)} ${String(invoiceId)}`),
    details: lines.flatMap(({ detail }) => (typeof detail === "string" ? [detail] : [])),
    summary: lines.at(-1),
  };
}

/** A home whose event store has the webhook of each payment. */
async function homeOf(paid: readonly Paid[]): Promise<string> {
  const home = temporaryHome();
  const store = openSqlite(join(home, "events.db"));
  await store.ready();
  const at = new Date("2026-11-21T10:00:00Z");
  for (const { number: reference, amount = 10 } of paid)
    await store.append(
      event(idOf(reference, at), { reference, amountTrans: amount, transCurrencyCode: "EUR" }, at),
    );
  return home;
}

/** A home whose event store has webhooks of these orders, EUR 10.00 each. */
async function homeWith(numbers: readonly string[], at = new Date("2026-11-21T10:00:00Z")): Promise<string> {
  const home = temporaryHome();
  const store = openSqlite(join(home, "events.db"));
  await store.ready();
  for (const reference of numbers)
    await store.append(
      event(idOf(reference, at), { reference, amountTrans: 10, transCurrencyCode: "EUR" }, at),
    );
  return home;
}

describe("a period that begins or ends on a day", () => {
  it.each([
    // The day that the clocks are put forward, and the day that they are put back: 23 and 25 hours.
    ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
    ["Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
    ["America/New_York", "2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"],
    ["America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"],
  ])("in %s is %s from midnight to midnight there", async (zone, day, begin, end) => {
    vi.stubEnv("TZ", zone);
    onTestFinished(() => void vi.unstubAllEnvs());
    const at = (time: string, milliseconds: number): string =>
      new Date(Date.parse(time) + milliseconds).toISOString();
    const { findings, summary } = await reconcile({
      paid: [
        { number: "before", at: at(begin, -1) },
        { number: "first", at: begin },
        { number: "last", at: at(end, -1) },
        { number: "after", at: end },
      ],
      args: ["--since", day, "--until", day],
      home: await homeWith([], new Date(begin)),
    });
    expect(findings).toEqual(["missed first", "missed last"]);
    expect(summary).toMatchObject({ since: at(begin, 0), until: at(end, 0) });
  });
});

const BOOKS: readonly (readonly [what: string, books: string, ...flags: readonly string[]])[] = [
  ["with a byte order mark", "\ufeffinvoiceId,amount,currency\nA-1,10.00,EUR\nA-2,10,EUR\n"],
  [
    "with decimal commas and semicolons",
    "Rechnungsnummer;Betrag;Währung\r\nA-1;10,00;EUR\r\nA-2;10,0;EUR\r\n",
    "--decimal-comma",
    "--map",
    "Rechnungsnummer=invoiceId",
    "--map",
    "Betrag=amount",
    "--map",
    "Währung=currency",
  ],
  ["with an order in two lines", "invoiceId,amount,currency\nA-1,4,EUR\nA-2,10,EUR\nA-1,6,EUR\n"],
  [
    "with a payment that was booked twice and taken back once",
    "invoiceId,amount,currency\nA-1,10,EUR\nA-1,10,EUR\nA-1,-10,EUR\nA-2,10,EUR\n",
  ],
  [
    "as lines of JSON",
    '{"invoiceId":"A-1","amount":10,"currency":"EUR"}\n{"invoiceId":"A-2","amount":"10.00","currency":"EUR"}\n',
  ],
];

describe("the amounts of books", () => {
  const READ: readonly (readonly [cell: string, amount: string, ...flags: readonly string[]])[] = [
    ["-€10.00", "-10.00"],
    ["(€10.00)", "-10.00"],
    ["€(10.00)", "-10.00"],
    ["€-10.00", "-10.00"],
    ["EUR -10.00", "-10.00"],
    ["−10,00 €", "-10.00", "--decimal-comma"],
    ["+10.00", "10.00"],
    ["1,234.50", "1234.50"],
    ["1'234'567.5", "1234567.50"],
    ["CHF 1’234.50", "1234.50"],
    ["1\u202f234,50 €", "1234.50", "--decimal-comma"],
    ["(1 234,50)", "-1234.50", "--decimal-comma"],
    ["-1.234,50 €", "-1234.50", "--decimal-comma"],
  ];
  it.each(READ)("are read as banks and spreadsheets write them: %s", async (cell, amount, ...args) => {
    const books = `order number;amount\nA-1;${cell}\n`;
    const { exit, stdout } = await reconcile({ paid: [], books, args, home: await homeWith([]) });
    expect(exit).toBe(10);
    expect(jsonLines(stdout)[0]).toMatchObject({ finding: "booked only", invoiceId: "A-1" });
    expect(formatAmount(String(jsonLines(stdout)[0]?.["amount"]), "EUR")).toBe(`EUR ${amount}`);
  });

  it.each([
    "1,234",
    "10-00",
    "--10",
    "(-10)",
    "(10.00)-",
    "10 (200)",
    "10 20",
    "1 23.00",
    "10.00 CR",
    "10.00 (EUR)",
    "1,2345.00",
  ])("are not guessed: %s", async (cell) => {
    const { exit, stderr } = await reconcile({ paid: [], books: `order number;amount\nA-1;${cell}\n` });
    expect(exit).toBe(2);
    expect(stderr).toContain("Nothing was compared.");
  });
});

describe("books", () => {
  it("whose refunds have no minus say so in another column, and take the money back", async () => {
    const home = await homeWith(["A-1"]);
    for (const amount of ["10.00", "-10.00"]) {
      const books = `order number;amount;currency;Type\nA-1;10.00;EUR;payment\nA-1;${amount};EUR;Refund\n`;
      const { findings, details } = await reconcile({ paid: [{ number: "A-1" }], books, home });
      expect({ findings, details }).toEqual({
        findings: ["differs A-1"],
        details: [expect.stringContaining("a refund of EUR 10.00, EUR 0.00 in all") as string],
      });
    }
  });

  it("that are no list at all are not compared, and that is said", async () => {
    for (const books of ["PK\u0003\u0004", "[]", "My shop\n\na,b\n1,2\n"]) {
      const { exit, stderr } = await reconcile({ paid: [], books });
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: expect.stringContaining("Nothing was compared.") as string,
      });
    }
  });

  it.each([
    ["Order ID,Type,Charged,Fee\nA-1,Payment,10.00,0.30\n", "--map Charged=amount"],
    ["Booked on,Key,Amount\n01.11.2026,A-1,10.00\n02.11.2026,A-2,10.00\n", "--map Key=invoiceId"],
    ["order number,debit\n", "--map '<column>=amount'"],
  ])("without a needed column are refused with one that can be it: %j", async (books, advice) => {
    const { exit, stderr } = await reconcile({ paid: [], books });
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(advice) as string });
  });

  it.each(BOOKS)("%s are read", async (_, books, ...args) => {
    const home = await homeWith(["A-1", "A-2"]);
    const paid = [{ number: "A-1" }, { number: "A-2" }];
    const result = await reconcile({ paid, books, args, home });
    expect(result).toMatchObject({ exit: 0, findings: [] });
  });

  it.each(["Total,20.00,EUR", ",20.00,EUR", "Summe,20,", "Subtotal,20.00,EUR\nA-3,0,EUR"])(
    "with the row of totals %j are compared without it, and the row is named",
    async (total) => {
      const { exit, findings, stderr } = await reconcile({
        paid: [{ number: "A-1" }, { number: "A-2" }],
        books: `invoiceId,amount,currency\nA-1,10.00,EUR\nA-2,10,EUR\n${total}\n`,
        home: await homeWith(["A-1", "A-2"]),
      });
      expect({ exit, findings }).toEqual({ exit: 0, findings: [] });
      expect(stderr).toContain("line 4 of the books looks like a row of totals, and is left out");
    },
  );

  it("with a comma in an amount are refused, and the flag for it is named", async () => {
    const books = "invoiceId;amount;currency\nA-1;10,00;EUR\n";
    const { exit, stderr } = await reconcile({ paid: [{ number: "A-1" }], books });
    expect({ exit, stderr }).toMatchObject({ exit: 2, stderr: expect.stringContaining("--decimal-comma") });
  });

  it.each([
    ["-10", "EUR 10.00", "EUR 0.00"],
    ["(4.00)", "EUR 4.00", "EUR 6.00"],
  ])("with the refund %s differ, and the refund is named", async (back, refund, left) => {
    const { exit, findings, details } = await reconcile({
      paid: [{ number: "A-1" }],
      books: `invoiceId,amount,currency\nA-1,10,EUR\nA-1,${back},EUR\n`,
      home: await homeWith(["A-1"]),
    });
    expect({ exit, findings }).toEqual({ exit: 10, findings: ["differs A-1"] });
    expect(details).toEqual([
      `A-1 was paid, EUR 10.00; your books have EUR 10.00 and a refund of ${refund}, ${left} in all. The service does not say what was refunded.`,
    ]);
  });
});

describe("an event store of two accounts", () => {
  const OTHER = "A".repeat(43);

  it("does not count a webhook that the other account's key has verified, and says so", async () => {
    const home = await homeWith(["A-1", "A-2"]);
    const [paid, args] = [[{ number: "A-1" }], ["--key", OTHER]];
    const alone = await reconcile({ paid, home, args });
    expect(alone.findings).toEqual(["missed A-1"]);
    // Where nothing that counts was ever received, books and links are compared alone.
    const booked = await reconcile({ paid, books: "invoiceId,amount\nA-1,10\nA-2,10\n", home, args });
    expect(booked.findings).toEqual(["booked only A-2"]);
    const key = KEYS[0]?.slice(0, 8);
    expect([...alone.details, ...booked.details]).toEqual(
      expect.arrayContaining([
        expect.stringContaining(`was verified by the key ${key}, which is not a key of this account, so`),
        expect.stringContaining(
          `there is no paid link for it, and its webhook was verified by the key ${key}, which is not`,
        ),
      ]),
    );
  });

  it("counts every event without a key, and warns about it", async () => {
    const home = await homeWith(["A-1"]);
    const paid = [{ number: "A-1" }];
    expect((await reconcile({ paid, home })).stderr).toBe("");
    const store = openSqlite(join(home, "events.db"));
    const { verdict, ...other } = event(idOf("2"), { reference: "A-2" });
    const key = verdict.key && { ...verdict.key, thumbprint: OTHER };
    await store.append({ ...other, verdict: { ...verdict, key }, keys: [OTHER] });
    expect((await reconcile({ paid, home })).stderr).toContain("this event store has webhooks of 2 keys");
  });
});

it("says what the application answered to an attempt that a later one has made good", async () => {
  const home = await homeWith(["A-1"]);
  const store = openSqlite(join(home, "events.db"));
  const detail = "Error: SMTP: connection refused at book (shop.mjs:41:60)";
  const id = idOf("A-1", new Date("2026-11-21T10:00:00Z"));
  await store.replayed(id, { ...forward(500), detail }, false);
  await store.replayed(id, forward(200), false);
  const { details } = await reconcile({ paid: [{ number: "A-1" }], home, args: ["A-1"] });
  expect(details).toContainEqual(
    expect.stringMatching(/: answered 500 in \d+ ms: Error: SMTP: connection refused at book/),
  );
  expect(details).toContainEqual(expect.stringMatching(/: answered 200 in \d+ ms$/));
});

describe("an event store that has forgotten", () => {
  const later = new Date("2026-11-21T11:00:00Z");

  it("cannot tell about a payment before what was deleted, and misses one after it", async () => {
    const home = await homeWith(["A-1"]);
    const store = openSqlite(join(home, "events.db"));
    await store.append(event(idOf("2", later), { reference: "A-2" }, later));
    await store.prune(new Date("2026-11-21T10:30:00Z"));
    const paid = [{ number: "A-1" }, { number: "A-3", at: later.toISOString() }];
    const { exit, findings, details } = await reconcile({ paid, home });
    expect(exit).toBe(10);
    expect(findings.toSorted()).toEqual(["missed A-3", "unmatched A-1", "unmatched A-2"]);
    expect(details).toContainEqual(expect.stringContaining("so it is not known whether its webhook arrived"));
    const alone = await reconcile({ paid: paid.slice(0, 1), home });
    expect(alone.exit).toBe(0);
  });

  it("does not claim that nothing arrived if it had no room for all refused requests", async () => {
    const home = await homeWith(["A-1"]);
    const store = openSqlite(join(home, "events.db"));
    const refused = (name: number, code: string) => {
      const one = rejection(`${idOf(String(name))}r`);
      return store.reject({ ...one, code, request: one.request && { ...one.request, headers: [] } });
    };
    const paid = [
      { number: "A-1" },
      { number: "A-2", at: "2026-11-21T10:00:00Z" },
      { number: "A-3", at: later.toISOString() },
    ];
    const nothing = "no webhook for it arrived here";
    // What looks for other paths, as scanners do, is no webhook.
    await Promise.all(Array.from({ length: 1100 }, (_, name) => refused(name, "not_found")));
    expect((await reconcile({ paid, home })).details).toEqual([
      expect.stringContaining(nothing),
      expect.stringContaining(nothing),
    ]);
    await Promise.all(Array.from({ length: 1100 }, (_, name) => refused(name + 1100, "signature_missing")));
    await refused(3000, "signature_missing");
    const { findings, details } = await reconcile({ paid, home });
    expect(findings).toEqual(["not known A-2", "missed A-3"]);
    expect(details).toEqual([
      expect.stringContaining(
        `no webhook for it is stored here. There was no room to keep all requests that were refused before ${formatLocal(new Date("2026-11-21T10:01:00Z"))},`,
      ),
      expect.stringContaining(nothing),
    ]);
  });
});

describe("what paylink prints, as books", () => {
  it("is a list of payments in either form that events list has, and the findings are CSV", async () => {
    const home = await homeWith(["A-1", "A-2"]);
    const paid = [{ number: "A-1" }, { number: "A-2" }];
    for (const form of ["--json", "--csv"]) {
      const { stdout: books } = await runCommand(
        ["events", "list", "--all", form, "--db", join(home, "events.db")],
        { home, now: () => NOW },
      );
      const { exit, findings } = await reconcile({ paid, books, home });
      expect({ form, exit, findings }).toEqual({ form, exit: 0, findings: [] });
    }
  });

  it.each([
    [
      "results of bulk",
      "invoiceId,amount,id,url,status,error,service\nA-1,10,l1,http://x/?r=1,active,,http://x 1\n",
    ],
    [
      "a list of links",
      '{"id":"l1","url":"http://x/?r=1","status":"paid","createdDate":"2026-11-01","amount":10,"invoiceId":"A-1"}\n',
    ],
  ])("is refused where it is %s: they do not say what is booked", async (what, books) => {
    const { exit, stderr } = await reconcile({ paid: [], books });
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringContaining(`The books are ${what}`) as string,
    });
  });
});

describe("books that say more than an amount", () => {
  const READ: readonly (readonly [
    what: string,
    books: string,
    finding: string,
    ...flags: readonly string[],
  ])[] = [
    [
      "what was paid and what is due",
      "Invoice No,Total,Paid,Outstanding\nA-1,200.00,0.00,200.00\nA-2,10.00,10.00,0.00\n",
      "not booked A-1",
    ],
    ["a state", "Invoice No,Total,Status\nA-1,200.00,unpaid\nA-2,10.00,Paid\n", "not booked A-1"],
    ["an end", "order number,Total,Cancelled at\nA-1,200.00,2026-11-03\nA-2,10.00,\n", "not booked A-1"],
    [
      "a date of a refund beside what went back",
      "order number,Total,Refunded at,Refund amount\nA-1,205.00,2026-11-03,5.00\nA-2,10.00,,\n",
      "",
    ],
    [
      "a state that says more than an end",
      "order number,Total,Status,Cancelled at\nA-1,200.00,Paid,2026-11-03\nA-2,10.00,Paid,\n",
      "",
    ],
    [
      "what Xero calls them",
      "InvoiceNumber,Reference,Total,InvoiceAmountPaid,InvoiceAmountDue\nA-1,x,200.00,0.00,200.00\nA-2,x,10.00,10.00,0.00\n",
      "not booked A-1",
    ],
    ["lines without an order number", "order number,amount\nA-1,200.00\nA-2,10.00\n,-3.50\nfee,\n", ""],
    [
      "money that came in",
      "order number;Buchungstext;Betrag\nA-1;GUTSCHRIFT;200,00\nA-2;GUTSCHRIFT;10,00\n",
      "",
      "--decimal-comma",
    ],
    [
      "two signs",
      "Belegfeld 1;Soll/Haben;Umsatz\nA-1;S;200,00\nA-2;S;30,00\nA-2;H;20,00\n",
      "",
      "--decimal-comma",
    ],
    [
      "two signs, named",
      "Belegfeld 1;Soll/Haben;Umsatz\nA-1;H;200,00\nA-2;H;10,00\n",
      "",
      "--decimal-comma",
      "--map",
      "Soll/Haben=sign:H",
    ],
    [
      "columns of money in and out",
      "order number,debit,credit,balance\nA-1,,200.00,500.00\nA-2,,30.00,530.00\nA-2,20.00,,510.00\n",
      "",
    ],
    ["apostrophes", "order number,amount\nA-1,'200.00\nA-2,'30.00\nA-2,'-20.00\n", ""],
    ["binary floats", "order number,amount\nA-1,199.99999999999997\nA-2,10.000000000000002\n", ""],
    [
      "a title above the header",
      "Payments\nNovember\n\norder number,amount\nA-1,200.00\nA-2,10.00\n",
      "",
      "--header-line",
      "4",
    ],
    [
      "lines that are left out",
      "order number,amount,Kind of\nA-1,200.00,card\nA-1,200.00,cash\nA-2,10.00,card\n",
      "",
      "--only",
      "kind of=CARD",
    ],
  ];
  it.each(READ)("are read by %s", async (_, books, finding, ...args) => {
    const paid = [{ number: "A-1", amount: 200 }, { number: "A-2" }];
    const read = await reconcile({ paid, books, home: await homeOf(paid), args });
    expect({ findings: read.findings, stderr: read.stderr }).toEqual({
      findings: finding === "" ? [] : [finding],
      stderr: expect.any(String) as string,
    });
  });

  it.each([
    ["order number,Total,Status\nA-1,10.00,Foo\n", "has an unknown state"],
    ["order number,Total,Status\nA-1,10.00,on hold\n", "may be paid or not"],
    ["order number,Total,Status\nA-1,10.00,Partially paid\n", "no column says how much"],
    ["order number,Total,Paid,Status\nA-1,10.00,0.00,paid\n", "contradicts another column"],
    ["order number,Total,Amount\nA-1,10.00,11.00\n", "Total and Amount mean it"],
    ["order number,amount\nA-1,19.987x\n", 'got \\"19.987x\\"'],
    ["My title\n\norder number,amount\nA-1,10,50\n", "--header-line 3"],
    ["sep=;,\norder number;amount\nA-1;10\n", "must name one character"],
  ])("are not guessed: %j", async (books, words) => {
    const { exit, stderr } = await reconcile({ paid: [], books });
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(words) as string });
    expect(stderr).toContain("Nothing was compared.");
  });

  it("count lines without an order number or an amount, with their sum", async () => {
    const { summary } = await reconcile({
      paid: [],
      home: await homeWith([]),
      books: "order number,amount,currency\n,-3.50,EUR\nA-9,,EUR\n,-1.50,EUR\n",
    });
    expect(summary).toMatchObject({ unnamed: { count: 3, sums: [{ currency: "EUR", amount: -5 }] } });
  });
});

describe("order numbers of books", () => {
  const numbers = ["RE-2026-0001", "0042", "#1001", "PP-1", "77", "12345"];
  const paid = numbers.map((number) => ({ number }));
  const compared = async (books: string) => reconcile({ paid, books, home: await homeOf(paid) });

  it("are found in a text where they are whole, alone, and no short number by chance", async () => {
    const texts = ["SVWZ+RE-2026-0001 Kunde 1", "Order #1001, thanks", "0042", "PP-1", "Nr. 77", "(12345)"];
    const all = await compared(`Verwendungszweck;Betrag\n${texts.map((text) => `${text};10.00\n`).join("")}`);
    expect(all).toMatchObject({ exit: 0, findings: [] });
    const none = [
      "XRE-2026-0001 Kunde;10.00",
      "RE-2026-0001-2;10.00",
      "RE-2026-0001 and PP-1;10.00",
      "77 pieces;9.00",
      "123456;10.00",
    ];
    const { findings } = await compared(`Verwendungszweck;Betrag\n${none.join("\n")}\n`);
    expect(findings.filter((finding) => finding.startsWith("booked only"))).toHaveLength(none.length);
  });

  it("that are nearly those of a link are suggested beside both findings, and never matched", async () => {
    const books = "order number,amount\nRE-2026-0001,10\n42,10\n1001,10\npp-1,10\n77,10\n12345,10\n";
    const { exit, stdout } = await compared(books);
    expect(exit).toBe(10);
    const found = jsonLines(stdout).filter(({ type }) => type === "finding");
    const words = found.map(({ finding, invoiceId, detail, next }) => [
      finding,
      invoiceId,
      /(\S+) was paid and is not in your books: it may|They have (\S+), which was not paid: it may/
        .exec(String(detail))
        ?.slice(1)
        .find(Boolean),
      String(next).replace(/ --terminal-id.*/, ""),
    ]);
    expect(words).toEqual(
      expect.arrayContaining([
        ["not booked", "0042", "42", "paylink reconcile 0042"],
        ["not booked", "#1001", "1001", "paylink reconcile '#1001'"],
        ["not booked", "PP-1", "pp-1", "paylink reconcile PP-1"],
        ["booked only", "42", "0042", "paylink reconcile 0042"],
        ["booked only", "1001", "#1001", "paylink reconcile '#1001'"],
        ["booked only", "pp-1", "PP-1", "paylink reconcile PP-1"],
      ]),
    );
    expect(words).toHaveLength(6);
  });
});
