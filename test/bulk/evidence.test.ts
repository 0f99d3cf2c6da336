/** What a list says of its currency, and what spreadsheets leave in it. */
import { describe, expect, it } from "vitest";
import { checkRows } from "../../src/bulk/read.ts";
import { Columns } from "../../src/lists/columns.ts";
import { currenciesInName, currenciesOf, splitAmount } from "../../src/lists/currencies.ts";
import { readList, requireColumns } from "../../src/lists/read-list.ts";
import { requestOf, type RowContext } from "../../src/bulk/row.ts";
import { requestBuilder } from "../../src/service/request.ts";
import { resolveSettings } from "../../src/settings/resolved-settings.ts";

const NOW = new Date(Date.UTC(2026, 0, 31));

/** The account has euros. */
async function check(
  text: string,
  { currency, map = {} }: { currency?: string; map?: Record<string, string> } = {},
) {
  const columns = new Columns(
    Object.entries(map).map(([name, field]) => ({ name, field: field || undefined })),
  );
  const list = requireColumns(await readList(Buffer.from(text), columns));
  const settings = resolveSettings({ profile: { terminalId: "1", currency: "EUR" }, env: {} });
  const context: RowContext = {
    build: requestBuilder({ flags: currency === undefined ? {} : { currency }, base: undefined, settings }),
    service: "https://pay.example",
    currency:
      currency === undefined ? undefined : { of: "--currency", spelled: currency, currencies: [currency] },
    defaults: new Set(),
    list,
  };
  const { signal } = new AbortController();
  const checked = await checkRows({
    list,
    columns,
    context,
    now: NOW,
    only: [],
    signal,
    checked: () => undefined,
  });
  const rows = [...list.rows].map((row) => {
    const { request, problems } = requestOf(row, context, NOW);
    return request === null
      ? problems.map(({ at, message }) => `${at} ${message}`).join("; ")
      : `${request.currency} ${request.amount.value}`;
  });
  return { rows, warnings: checked.warnings, currencies: checked.currencies };
}

describe("a currency that the list names", () => {
  it.each<[string, Parameters<typeof check>, string[]]>([
    [
      "in a header",
      ["Amount (GBP),customerName\n10,Ada\n", { map: { "Amount (GBP)": "amount" } }],
      ["GBP 10"],
    ],
    [
      "in a header with underscores",
      ["amount_gbp,customerName\n10,Ada\n", { map: { amount_gbp: "amount" } }],
      ["GBP 10"],
    ],
    [
      "as a sign in a header",
      ["Price in £,customerName\n10,Ada\n", { map: { "Price in £": "amount" } }],
      ["GBP 10"],
    ],
    ["in a column", ["amount,currency,customerName\n10,usd,Ada\n20,EUR,Bob\n", {}], ["USD 10", "EUR 20"]],
    [
      "as a sign in a column",
      ["amount,currency,customerName\n10,£,Ada\n20,US$,Bob\n", {}],
      ["GBP 10", "USD 20"],
    ],
    [
      "as a sign in cells",
      ["amount,customerName\n£10,Ada\n20.50 €,Bob\nUSD 3,Eve\n4 chf,Zoe\n", {}],
      ["GBP 10", "EUR 20.50", "USD 3", "CHF 4"],
    ],
    [
      "and a flag too",
      ["amount,currency,customerName\n10,EUR,Ada\n20,,Bob\n", { currency: "EUR" }],
      ["EUR 10", "EUR 20"],
    ],
    [
      "as a sign that a flag makes clear",
      ["amount,customerName\n$10,Ada\n", { currency: "CAD" }],
      ["CAD 10"],
    ],
  ])("is used: %s", async (_, [text, options], expected) => {
    expect((await check(text, options)).rows).toEqual(expected);
  });

  it.each<[string, Parameters<typeof check>, RegExp]>([
    [
      "a header and a flag",
      ["Amount (GBP),customerName\n10,Ada\n", { currency: "EUR", map: { "Amount (GBP)": "amount" } }],
      /the header "Amount \(GBP\)" says GBP, and --currency says EUR/,
    ],
    [
      "a header and a column",
      ["Amount (GBP),currency,customerName\n10,EUR,Ada\n", { map: { "Amount (GBP)": "amount" } }],
      /the column currency says EUR, and the header "Amount \(GBP\)" says GBP/,
    ],
    [
      "a column and a flag",
      ["amount,currency,customerName\n10,USD,Ada\n", { currency: "EUR" }],
      /the column currency says USD, and --currency says EUR/,
    ],
    [
      "a cell and a flag",
      ["amount,customerName\n£10,Ada\n", { currency: "EUR" }],
      /the cell of amount says £10, and --currency says EUR/,
    ],
    [
      "an unclear sign",
      ["amount,customerName\n$10,Ada\n", {}],
      /is in an unclear currency: the cell of amount says \$10, which may be USD, CAD, AUD or another/,
    ],
    [
      "an unclear sign in a column",
      ["amount,currency,customerName\n10,¥,Ada\n", {}],
      /unclear currency: the column currency says ¥, which may be JPY, CNY/,
    ],
    [
      "an empty cell of a column",
      ["amount,currency,customerName\n10,,Ada\n", {}],
      /currency is empty, and the list has a column for it: fill the cell, or give --currency/,
    ],
  ])("stops the row, with both named: %s", async (_, [text, options], message) => {
    expect((await check(text, options)).rows[0]).toMatch(message);
  });

  it("is noticed in a column that is not sent, also as a symbol", async () => {
    expect((await check("amount,customerName,coin\n10,Ada,£\n20,Bob,US$\n")).currencies).toEqual(["coin"]);
    expect((await check("amount,customerName,coin\n10,Ada,£\n20,Bob,red\n")).currencies).toEqual([]);
  });

  it.each(["Betrag", "Total", "Summe", "Montant", "Importe", "cur", "Währung"])(
    "and its amounts are never ignored in a column named %s",
    async (name) => {
      await expect(check(`${name},customerName\n10,Ada\n`, { currency: "EUR" })).rejects.toMatchObject({
        problems: [{ message: expect.stringContaining("is not a field: did you mean") }],
      });
    },
  );

  it("is not found in a header word by chance", () => {
    expect(currenciesInName("Amount for all")).toBeUndefined();
    expect(currenciesInName("Top price")).toBeUndefined();
    expect(currenciesOf("red")).toBeUndefined();
    expect(splitAmount("10 pcs")).toEqual({ amount: "10 pcs" });
  });
});

describe("what spreadsheets and programs leave", () => {
  it.each([
    "#N/A",
    "nan",
    "NaN",
    "NULL",
    "undefined",
    "None",
    "#REF!",
    "#WERT!",
    "Err:502",
    "<NA>",
    " nan\u00A0",
  ])("is refused in a required field and as the order number: %s", async (left) => {
    const { rows } = await check(
      `amount,customerName,invoiceId\n10,${left},A\n10,Ada,${left}\n${left},Ada,B\n`,
    );
    expect(rows[0]).toMatch(/^customerName must have a value: .* is what a spreadsheet or a program leaves/);
    expect(rows[1]).toMatch(/^invoiceId must have a value/);
    expect(rows[2]).toMatch(/^amount must have a value/);
  });

  it("gives a warning in any other field, and none in a name that looks like it", async () => {
    const { rows, warnings } = await check(
      "amount,customerName,description\n10,Nan,nan\n20,None Nanson,ok\n",
    );
    expect(rows).toEqual(["EUR 10", "EUR 20"]);
    expect(warnings).toMatchObject([{ at: "description", message: expect.stringContaining("nan is what") }]);
  });

  it.each([
    ["TOTAL,,60", "customerName"],
    ["Grand total:,,60", "customerName"],
    ["Summe EUR,,60", "customerName"],
    [",,60.00", ""],
  ])("gives a warning for a last row that looks like a total: %s", async (last, at) => {
    const list = `customerName,invoiceId,amount\nAda,A,10\nBob,B,20\nEve,C,30\n${last}\n`;
    const { warnings } = await check(list);
    expect(warnings).toMatchObject([
      { at, lines: [5], message: expect.stringContaining("looks like a row of totals") },
    ]);
  });

  it.each(["Total Energies,D,60", "Dan,D,60", "Dan,,60", "Dan,,61", ",,61"])(
    "gives no warning for any other last row: %s",
    async (last) => {
      expect(
        (await check(`customerName,invoiceId,amount\nAda,A,10\nBob,B,20\nEve,C,30\n${last}\n`)).warnings,
      ).toEqual([]);
    },
  );
});
