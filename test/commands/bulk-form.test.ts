/** Lists that say what became of their rows, or cannot be read without guessing: all of it is named at once, and nothing is sent. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { keyFile } from "../support/keys.ts";
import { startLinkService } from "../support/link-service.ts";

async function desk() {
  const service = await startLinkService(() => "create");
  const home = temporaryHome();
  mkdirSync(home, { recursive: true });
  const path = join(home, "list.csv");
  const run = (...args: readonly string[]) => runCommand(args, { home, env: service.env });
  const send = (text: string, ...flags: readonly string[]) => {
    writeFileSync(path, text);
    return run("bulk", path, "--currency", "EUR", "--yes", ...flags);
  };
  return { service, home, send, run, results: () => readFileSync(join(home, "list.links.csv"), "utf8") };
}

const LISTS: readonly (readonly [header: string, rows: string, ...words: readonly string[]])[] = [
  [
    "Balance,Status",
    "0.00,Paid|20.00,Partially paid",
    "Status  says paid in 1 row, EUR 100.00 (line 2)",
    "says paid in part in 1 row",
  ],
  [
    "Outstanding",
    "0.00|20.00",
    "Outstanding  says that nothing is due in 1 row",
    "--map Outstanding=amount --map amount=",
  ],
  ["Zahlstatus", "Bezahlt|offen", "Zahlstatus  says paid", "--only Zahlstatus=offen"],
  ["Amount Paid", "100.00|30.00", "Amount Paid  says paid in 1 row", "says paid in part in 1 row"],
  ["Bezahlt am", "01.11.2026|", "Bezahlt am  says paid"],
  ["Paid?", "yes|no", "Paid?  says paid in 1 row"],
  ["Order Status", "processing|draft", '"processing", which may be paid', "says a draft"],
  ["state", "void|refunded", "says void", "says refunded"],
  ["Status", "Paid (cash)|Refunded on 3 May", '"Paid (cash)", which may be paid', '"Refunded on 3 May"'],
  ["Cancelled at", "2026-11-01 10:00:00 +0000|", "Cancelled at  says void in 1 row, EUR 100.00 (line 2)"],
  ["Storniert", "ja|0", "Storniert  says void in 1 row, EUR 100.00 (line 2)"],
  ["Refunded Amount", "100.00|20.00", "says refunded in 1 row", "says refunded in part in 1 row"],
  ["Type", "Sales credit note|Sales invoice", "Type  says refunded in 1 row, EUR 100.00 (line 2)"],
  ["Document Type", "Invoice|Credit Memo", "Document Type  says refunded in 1 row, EUR 50.00 (line 3)"],
  [
    "Transaction type",
    "Credit Memo|Invoice",
    "Transaction type  says refunded in 1 row, EUR 100.00 (line 2)",
  ],
];

describe("a list whose rows say that they need not be paid", () => {
  it.each(LISTS)("in %s is not sent until they are left out: %s", async (header, rows, ...words) => {
    const { service, send } = await desk();
    const [one = "", other = ""] = rows.split("|");
    const list = `invoiceId,customerName,amount,${header}\nB-1,Ada,100.00,${one}\nB-2,Bob,50.00,${other}\n`;
    const { exit, stderr } = await send(list);
    expect(exit).toBe(2);
    for (const word of words) expect(stderr).toContain(word);
    expect(service.arrivals).toHaveLength(0);
    const maps = header.split(",").flatMap((name) => ["--map", `${name}=`]);
    expect((await send(list, ...maps)).stdout).toContain("2 rows: 2 created");
  });

  it.each(["open,failed", "Unpaid,Overdue", "CA,NY", "posted,sent", "Open (paid by card),Due on 3 May"])(
    "is sent where they do not: %s",
    async (states) => {
      const { send } = await desk();
      const [one, other] = states.split(",");
      const list = `invoiceId,customerName,amount,Balance,State\nB-1,Ada,100.00,100.00,${one}\nB-2,Bob,50.00,50.00,${other}\n`;
      expect((await send(list)).stdout).toContain("2 rows: 2 created");
    },
  );

  it("is sent in spite of it by the one command that it advises, whatever else the rows say", async () => {
    const { send } = await desk();
    const list =
      "invoiceId,customerName,amount,Payments/Credits,Total Due,Lifecycle\nB-1,Ada,100.00,100.00,0.00,Paid\nB-2,Bob,50.00,0.00,50.00,Sent\n";
    const { stderr } = await send(list);
    const [, advised = ""] = /in spite of it: (.*)$/m.exec(stderr) ?? [];
    expect(advised).toBe("--map Lifecycle= --map Payments/Credits= --map 'Total Due='");
    const flags = advised
      .replaceAll("'", "")
      .split(/ ?--map /)
      .filter((name) => name !== "");
    expect((await send(list, ...flags.flatMap((flag) => ["--map", flag]))).stdout).toContain(
      "2 rows: 2 created",
    );
  });

  it("is sent where nothing was cancelled or refunded, and with its debits as amounts", async () => {
    const { service, send } = await desk();
    const list =
      "invoiceId,customerName,Debit,Credit,Cancelled,Refunded Amount,Type\nB-1,Ada,100.00,,no,0.00,Invoice\nB-2,Bob,50.00,,,,\n";
    expect((await send(list, "--map", "Debit=amount")).stdout).toContain("2 rows: 2 created");
    expect(new Set(service.created.map(({ json }) => json["amount"]))).toEqual(new Set([100, 50]));
  });

  it("is sent in part with --only, and its results have the other rows as skipped", async () => {
    const { service, send, results } = await desk();
    const list = "invoiceId,customerName,amount,Status\nB-1,Ada,100.00,Paid\nB-2,Bob,50.00,Open\n";
    const { exit } = await send(list, "--only", " status = OPEN ");
    expect(exit).toBe(0);
    expect(service.created.map(({ json }) => json["invoiceId"])).toEqual(["B-2"]);
    expect(results()).toMatch(/B-1,Ada,100\.00,Paid,,,skipped,/);
    expect((await send(list, "--only", "Status=Opne")).stderr).toContain("Status has Paid, Open");
    expect((await send(list, "--only", "Sttus=Open")).stderr).toContain("did you mean Status?");
  });

  it("is one of what is due where that is mapped, and rows with nothing due are none", async () => {
    const { service, send } = await desk();
    const list = "invoiceId,customerName,amount,Balance\nB-1,Ada,100.00,0.00\nB-2,Bob,50.00,20.00\n";
    const maps = ["--map", "Balance=amount", "--map", "amount="];
    expect((await send(list, ...maps)).stderr).toContain("that nothing is due in 1 row");
    expect((await send(list, ...maps, "--only", "Balance=20.00")).exit).toBe(0);
    expect(service.created.map(({ json }) => json["amount"])).toEqual([20]);
  });
});

describe("a list with several problems", () => {
  it("names all of them in one round, and the setting columns mends those of the columns", async () => {
    const { send, run } = await desk();
    const list =
      "Sales, November\nMy Shop\n\nInvoice No.;Kunde;Betrag;Status\nA-1;Ada;10,50;Offen\nA-2;Bob;7,00;Bezahlt\n";
    const { stderr } = await send(list);
    for (const words of [
      "--header-line 4",
      "'Invoice No.=invoiceId'",
      "Kunde=customerName",
      "Betrag=amount",
      "--decimal-comma",
      "says paid in 1 row",
      "--only Status=Offen",
    ])
      expect(stderr).toContain(words);
    const stored = await run(
      "config",
      "set",
      "columns",
      "Invoice No.=invoiceId,Kunde=customerName,Betrag=amount",
    );
    expect(stored.exit).toBe(0);
    const sent = await send(list, "--header-line", "4", "--decimal-comma", "--only", "Status=Offen");
    expect(sent.stdout).toContain("1 created");
    expect(sent.stderr).toContain(
      "From the setting columns: Invoice No.=invoiceId, Kunde=customerName, Betrag=amount",
    );
    expect((await run("config", "set", "columns", "Total=amonut")).exit).toBe(2);
  });

  it.each(["Total=amonut", "Total", "=amount"])(
    "stops at the setting columns that somebody wrote into the file as %j",
    async (columns) => {
      const { service, home, run, send } = await desk();
      storeProfiles(home, { shop: { columns } });
      writeFileSync(join(home, "books.csv"), "invoiceId,amount\nB-1,10\n");
      for (const { exit, stdout, stderr } of [
        await send("invoiceId,customerName,Total\nB-1,Ada,10\n"),
        await run("reconcile", "--books", join(home, "books.csv"), "--key", keyFile(home)),
      ]) {
        expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
        expect(stderr).toContain("The settings have invalid columns.");
        expect(stderr).toMatch(/^ {2}columns {2}must /m);
        expect(stderr).toContain(`(got "${columns}")`);
      }
      expect(service.arrivals).toHaveLength(0);
    },
  );

  it("names a line that lists two separators, and numbers with the decimals of a binary float", async () => {
    const { send } = await desk();
    expect((await send("sep=;,\namount;customerName\n10;Ada\n")).stderr).toContain("must name one character");
    const { stderr } = await send("amount,customerName\n19.989999999999998,Ada\n19.987234567890123,Bob\n");
    expect(stderr).toContain("adds to 19.99: write 19.99");
    expect(stderr).toContain("must have at most 2 decimals in EUR");
  });

  it("is not sent with a space that no cell shows: each is trimmed", async () => {
    const { service, send } = await desk();
    await send(
      "amount,customerName,terminalId,E-mail,description\n10,Ada ,1234567890 ,a@example.com\u00A0, Tea \n",
      "--map",
      "E-mail=customerDetails.email",
    );
    expect(service.created.map(({ json }) => json)).toMatchObject([
      {
        customerName: "Ada",
        terminalId: "1234567890",
        description: "Tea",
        customerDetails: { email: "a@example.com" },
      },
    ]);
  });
});
