/** Lists as spreadsheets and programs write them, read into rows of cells. */
import { describe, expect, it } from "vitest";
import { Columns } from "../../src/lists/columns.ts";
import { readList, requireColumns, type ListRow } from "../../src/lists/read-list.ts";
import { JsonNumber } from "../../src/values/json.ts";

const listOf = async (text: string | Uint8Array, columns?: Columns) =>
  requireColumns(await readList(Buffer.from(text), columns));

const read = async (text: string | Uint8Array): Promise<readonly ListRow[]> => [...(await listOf(text)).rows];

const plain = ({ columns, values }: ListRow): Record<string, unknown> =>
  Object.fromEntries(columns.map(({ name, field }, at) => [field ?? `(${name})`, values[at]]));

describe("a list in CSV", () => {
  it.each([
    ["commas", "amount,currency\n10,EUR\n20,USD\n"],
    ["semicolons", "amount;currency\n10;EUR\n20;USD\n"],
    ["tabs", "amount\tcurrency\n10\tEUR\n20\tUSD\n"],
    ["a byte order mark", "\uFEFFamount,currency\n10,EUR\n20,USD\n"],
    ["CRLF", "amount,currency\r\n10,EUR\r\n20,USD\r\n"],
    ["CR", "amount,currency\r10,EUR\r20,USD\r"],
    ["mixed line ends and no last one", "amount,currency\r\n10,EUR\n20,USD"],
    ["quotes", '"amount","currency"\n"10","EUR"\n"20","USD"\n'],
    ["blank lines and rows of delimiters", "amount,currency\n\n10,EUR\n,\n20,USD\n\n,\n"],
    ["headers in any case", "AMOUNT, Cur_Rency\n10,EUR\n20,USD\n"],
  ])("with %s", async (_, text) => {
    expect((await read(text)).map(plain)).toEqual([
      { amount: "10", currency: "EUR" },
      { amount: "20", currency: "USD" },
    ]);
  });

  it("names the line on which a row begins, whatever its cells contain", async () => {
    const text = 'amount,colour\r\n1,"a\r\nb"\r\n\r\n2,"c\nd\re"\r\n3,\r\n';
    expect((await read(text)).map(({ line }) => line)).toEqual([2, 5, 8]);
  });

  it("recognises nested fields, and keeps the merchant's own columns", async () => {
    const text = "amount,linkOptions.MODE,customerDetails.billingAddress.city,colour,colour,\n1,X,Y,a,b,c\n";
    expect((await read(text)).map(plain)).toEqual([
      {
        amount: "1",
        "linkOptions.mode": "X",
        "customerDetails.billingAddress.city": "Y",
        "(colour)": "a",
        "(colour (column 5))": "b",
        "(column 6)": "c",
      },
    ]);
  });

  it("marks a row with too many cells, and reads missing cells at its end as empty", async () => {
    const rows = await read("amount,currency\n1\n2,EUR,x\n3,EUR, ,\n");
    expect(rows.map(({ problems }) => problems.map(({ message }) => message))).toEqual([
      [],
      ["has 3 columns, but the header has 2"],
      [],
    ]);
    expect(rows.map(({ values }) => values)).toEqual([
      ["1", ""],
      ["2", "EUR"],
      ["3", "EUR"],
    ]);
  });

  it.each([
    ["amount;Remarks (a, b)\n10;x\n", ["amount", "Remarks (a, b)"]],
    ["amount;Remarks (a, b)\n10;x, y\n20;z, z\n", ["amount", "Remarks (a, b)"]],
    ["amount;Remarks (a, b)\n", ["amount", "Remarks (a, b)"]],
    ['"Name, first";amount\nAda;1\n', ["Name, first", "amount"]],
    ["amount\tcolour; size, weight\n1\ta; b, c\n", ["amount", "colour; size, weight"]],
    ["amount|colour\n1|a,b\n2|c\n", ["amount", "colour"]],
    ['amount\n"10,50"\n"1,50"\n', ["amount"]],
    ["amount\n10,50\n1,50\n", ["amount"]],
    ["amount,colour\n1,a;b\n2,c;d\n", ["amount", "colour"]],
  ])("uses the delimiter that splits its first rows evenly: %j", async (text, names) => {
    expect((await listOf(text)).columns.map(({ name }) => name)).toEqual(names);
  });

  it("drops the apostrophe before what looks like a formula, in headers and cells", async () => {
    const rows = await read("amount,'=own\n1,'-10%\n2,''=x\n3,'quoted'\n4,-5\n");
    expect(rows.map(plain)).toEqual(
      ["-10%", "'=x", "'quoted'", "-5"].map((own, at) => ({ amount: String(at + 1), "(=own)": own })),
    );
  });

  it("refuses control characters in every cell, wherever in the file; notes may have tabs and line ends", async () => {
    const first = "1,Ada,fine,fine\n".repeat(6000);
    const list = `amount,customerName,description,own\n${first}1,A\0da,"a\tb\r\nc","d\r\ne"\n2,"A\nda",\u001B[2J,\u0085\n`;
    const bad = (await read(list)).filter(({ problems }) => problems.length > 0);
    expect(
      bad.map(({ line, problems }) => [line, problems.map(({ at, message }) => `${at} ${message}`)]),
    ).toEqual([
      [6002, ["customerName must not have control characters (it has U+0000)"]],
      [
        6005,
        [
          "customerName must not have control characters (it has U+000A)",
          "description must not have control characters (it has U+001B)",
          "own must not have control characters (it has U+0085)",
        ],
      ],
    ]);
    // Where a printed report begins a page.
    const [page] = await read("amount,customerName\n1,\fAda\n");
    expect(page?.problems).toEqual([
      { at: "customerName", message: "must not have control characters (it has U+000C)" },
    ]);
    await expect(listOf("amount,o\u0007wn\n1,2\n")).rejects.toThrow("cannot be read");
  });

  it("refuses texts that have lost letters, in the cells that are sent", async () => {
    const { rows } = await listOf("amount,customerName,own\n1,Jos\ufffd,ok\n1,Jos\u00e9,Jos\ufffd\n");
    expect([...rows].map(({ problems }) => problems)).toEqual([
      [{ at: "customerName", message: "must be UTF-8 text: letters of it were lost in another encoding" }],
      [],
    ]);
    const json = await listOf('{"amount":1,"customerName":"Tea \\ud83d"}\n');
    expect([...json.rows].flatMap(({ problems }) => problems)).toMatchObject([{ at: "customerName" }]);
  });

  it.each([
    ['="A-1"', "A-1"],
    ['="005"', "005"],
    ['="say ""hi"""', 'say "hi"'],
    ['""', ""],
    ['"say ""hi"""', 'say "hi"'],
    ['"=""A-1"""', "A-1"],
  ])("reads a formula that only holds a text as that text, quoted or not: %s", async (cell, text) => {
    for (const delimiter of [",", ";", "\t"]) {
      const rows = await read(
        `invoiceId${delimiter}amount\n${cell}${delimiter}="1"\r\n${cell}${delimiter}2\n`,
      );
      expect(rows.map(({ values }) => values)).toEqual([
        [text, "1"],
        [text, "2"],
      ]);
    }
  });

  it.each([
    '="A,1"',
    '="A-1',
    '="A"&"1"',
    '="A"-1',
    'A="1"',
    '5" pipe',
    '"A"x',
    '"A"x"',
    '"A"="1"',
    '="A"1"',
  ])("refuses an ambiguous quote, and says how to write it: %s", async (cell) => {
    const problem = { at: "line 3", message: expect.stringContaining("quote the whole cell") };
    await expect(listOf(`amount,invoiceId\n1,x\n10,${cell}\n`)).rejects.toMatchObject({
      problems: [problem],
    });
  });

  it("maps columns that mean a field to that field where nothing is sent", async () => {
    const columns = new Columns([], { takesMeant: true });
    const { rows } = await listOf("Order number;Total (EUR);Währung;Colour\nA-1;10;EUR;red\n", columns);
    expect([...rows].map(plain)).toEqual([
      { invoiceId: "A-1", amount: "10", currency: "EUR", "(Colour)": "red" },
    ]);
  });

  it.each([
    ["a field twice", "amount,Amount\n1,2\n", "The columns cannot be read"],
    ["no field", "a,b\n1,2\n", "The columns cannot be read"],
    ["a misspelled field", "amount,curency\n1,USD\n", "The columns cannot be read"],
    ["a quote that stays open", 'amount,colour\n1,"x\n2,y\n', "from line 2 on"],
    ["a quote inside a cell", 'amount,colour\n1,x\n2,y"z\n', "from line 3 on"],
    ["the same among many rows", `amount,colour\n${"1,x\n".repeat(50)}2,y"z\n3,x\n`, "from line 52 on"],
    ["Latin-1", Buffer.from("amount,colour\n1,caf\xe9\n", "latin1"), "not in UTF-8"],
  ])("refuses %s", async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it.each([
    ["a line that names the delimiter", "sep=;\namount;customerName\n10;Ada, Bob\n"],
    ["the same in quotes, behind a mark", '\uFEFF"sep=|"\r\namount|customerName\r\n10|"Ada, Bob"\r\n'],
  ])("is read with %s", async (_, text) => {
    const rows = await read(text);
    expect(rows.map(plain)).toEqual([{ amount: "10", customerName: "Ada, Bob" }]);
    expect(rows[0]?.line).toBe(3);
    const { beginning, delimiter } = await listOf(text);
    expect(beginning).toMatch(/^\uFEFF?sep=[;|]\n$/);
    expect(beginning).toContain(delimiter);
  });

  const utf16 = (text: string) => Buffer.from(text, "utf16le");
  it.each([
    ["a workbook (.xlsx", Buffer.from("PK\x03\x04\x14\0\x06\0..[Content_Types].xml ..", "latin1")],
    ["a workbook of Excel (.xls)", Buffer.from("d0cf11e0a1b11ae10000", "hex")],
    ["in UTF-16", utf16("\uFEFFamount,currency\n1,EUR\n")],
    ["in UTF-16", utf16("\uFEFFamount,currency\n1,EUR\n").swap16()],
    ["in UTF-16", utf16("amount,currency\n1,EUR\n")],
    ["in UTF-16", utf16("amount,currency\n1,EUR\n").swap16()],
    ["a binary file", Buffer.from([1, 2, 3, 4, 5, 0, 7])],
  ])("is refused if it is %s", async (what, bytes) => {
    await expect(read(bytes)).rejects.toMatchObject({
      code: "file_unreadable",
      message: expect.stringContaining(`The list is ${what}`),
      hints: [[expect.stringContaining("CSV UTF-8")]],
    });
  });

  it("is refused as one JSON array, with a command that makes lines of it", async () => {
    await expect(read('[{"amount":1}]')).rejects.toMatchObject({
      code: "usage",
      hints: [[expect.stringContaining("jq -c")]],
    });
  });
});

describe("a list in JSON lines", () => {
  it("reads rows nested or flat, and numbers as they are spelled", async () => {
    const text =
      '{"amount":10.00,"linkOptions":{"mode":"X"},"own":{"a":1}}\n\n{"amount":"20","linkOptions.mode":"Y"}';
    const rows = await read(text);
    expect(rows.map(plain)).toEqual([
      { amount: new JsonNumber("10.00"), "linkOptions.mode": "X", "(own.a)": new JsonNumber("1") },
      { amount: "20", "linkOptions.mode": "Y" },
    ]);
    expect(rows.map(({ line }) => line)).toEqual([1, 3]);
  });

  it.each([
    ["is not JSON", '{"amount":\n'],
    ["must be a JSON object", '{"amount":1}\n[1]\n'],
    ["is given twice", '{"amount":1,"Amount":2}\n'],
    ["is given twice", '{"amount":1,"amount":1}\n'],
    ["did you mean customerName?", '{"amount":1,"custmerName":"Ada"}\n'],
    ["did you mean linkOptions.mode?", '{"amount":1,"linkOptions":{"mod":"X"}}\n'],
  ])("marks a row that %s", async (message, text) => {
    const problems = (await read(text)).flatMap((row) => row.problems);
    expect(problems.map((problem) => problem.message).join()).toContain(message);
  });
});
