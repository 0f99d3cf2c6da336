/** Lists as spreadsheets and programs write them, read row by row; and results that a spreadsheet opens unharmed. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkRows } from "../../src/bulk/check-rows.ts";
import { Columns } from "../../src/bulk/columns.ts";
import { writeResults } from "../../src/bulk/results.ts";
import type { Row } from "../../src/bulk/row.ts";
import { openRows, type Rows } from "../../src/bulk/rows.ts";
import type { Result } from "../../src/bulk/sent-rows.ts";
import { JsonNumber } from "../../src/domain/json.ts";

/** The bytes, in pieces of any size. */
function pieces(text: string | Uint8Array, size = 7): () => AsyncIterable<Uint8Array> {
  const bytes = Buffer.from(text);
  return async function* () {
    for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
  };
}

async function read(text: string | Uint8Array, size?: number): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of (await openRows(pieces(text, size))).read()) rows.push(row);
  return rows;
}

const plain = (row: Row): Record<string, unknown> =>
  Object.fromEntries(row.cells.map(({ column, value }) => [column.field ?? `(${column.name})`, value]));

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
    expect((await read(text)).map(({ line, index }) => [index, line])).toEqual([
      [0, 2],
      [1, 5],
      [2, 8],
    ]);
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

  it("marks a row with too few or too many cells, and reads on", async () => {
    const rows = await read("amount,currency\n1\n2,EUR,x\n3,EUR\n");
    expect(rows.map(({ problems }) => problems.map(({ message }) => message))).toEqual([
      ["has 1 column, but the header has 2"],
      ["has 3 columns, but the header has 2"],
      [],
    ]);
  });

  it.each([
    ["a field twice", "amount,Amount\n1,2\n", "The columns cannot be read"],
    ["no field", "a,b\n1,2\n", "has no field"],
    ["a misspelled field", "amount,curency\n1,USD\n", "The columns cannot be read"],
    ["a quote that stays open", 'amount,colour\n1,"x\n2,y\n', "from line 2 on"],
    ["a quote inside a cell", 'amount,colour\n1,x\n2,y"z\n', "from line 3 on"],
    ["the same among many rows", `amount,colour\n${"1,x\n".repeat(50)}2,y"z\n3,x\n`, "from line 52 on"],
    ["Latin-1", Buffer.from("amount,colour\n1,caf\xe9\n", "latin1"), "not in UTF-8"],
  ])("refuses %s", async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
    await expect(read(text, text.length)).rejects.toThrow(message);
  });

  it.each([
    ["a line that names the delimiter", "sep=;\namount;customerName\n10;Ada, Bob\n"],
    ["the same in quotes, behind a mark", '\uFEFF"sep=|"\r\namount|customerName\r\n10|"Ada, Bob"\r\n'],
  ])("is read with %s", async (_, text) => {
    const rows = await read(text);
    expect(rows.map(plain)).toEqual([{ amount: "10", customerName: "Ada, Bob" }]);
    expect(rows[0]?.line).toBe(3);
    const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
    expect(await results(text)).toMatch(new RegExp(`^${mark}sep=[;|]\namount[;|]customerName[;|]id[;|]`));
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

  it("is refused as one JSON array, with the way to lines", async () => {
    await expect(read('[{"amount":1}]')).rejects.toMatchObject({
      code: "usage",
      hints: [[expect.stringContaining("jq -c")]],
    });
  });

  it("is closed when its reader stops", async () => {
    let isClosed = false;
    const bytes = async function* () {
      try {
        for (;;) yield Buffer.from("amount\n1\n2\n");
      } finally {
        isClosed = true;
      }
    };
    for await (const { index } of (await openRows(bytes)).read()) if (index === 100) break;
    await expect.poll(() => isClosed).toBe(true);
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

async function results(
  text: string,
  format: Rows["format"] = "csv",
  answer: Partial<Result> = {},
): Promise<string> {
  const rows = await openRows(pieces(text));
  const checked = await checkRows({
    rows: rows.read(),
    columns: new Columns(),
    build: () => ({ request: null, problems: [], warnings: () => [], meant: {} }),
    now: new Date(0),
    signal: new AbortController().signal,
    checked: () => undefined,
    invalid: () => undefined,
  });
  const resultOf = ({ index }: Row) => ({
    status: "created" as const,
    id: `id${index}`,
    url: `https://x/${index}`,
    error: null,
    isEarlier: 0,
    ...answer,
  });
  const written: Uint8Array[] = [];
  await writeResults(format, { rows, checked, resultOf }, async (chunks) => {
    for await (const chunk of chunks) written.push(chunk);
  });
  return Buffer.concat(written).toString();
}

describe("the results", () => {
  it("are the row's own columns and the link's, in the input's own dialect", async () => {
    expect(await results("\uFEFFAmount;colour\n10;x\n20;\n")).toBe(
      "\uFEFFAmount;colour;id;url;status;error\n10;x;id0;https://x/0;created;\n20;;id1;https://x/1;created;\n",
    );
  });

  it("do not overwrite a column of the same name", async () => {
    expect(await results("amount,ID\n1,own\n")).toBe(
      "amount,ID,link_id,url,status,error\n1,own,id0,https://x/0,created,\n",
    );
  });

  it("are JSON lines in the form of the rows if the file name says so", async () => {
    expect(await results('{"amount":1.50,"own":{"a":[1]}}\n', "json lines")).toBe(
      '{"amount":1.50,"own":{"a":[1]},"id":"id0","url":"https://x/0","status":"created"}\n',
    );
  });

  it("make harmless what the service answered", async () => {
    const error = " =1+1\u001B[2J\u009B2J\u202Ex\r\n\u200B";
    expect(await results("amount\n1\n", "csv", { status: "refused", id: "@a", url: "\u0007", error })).toBe(
      "amount,id,url,status,error\n1,'@a,\\u{7},refused,'=1+1\\u{1b}[2J\\u{9b}2J\\u{202e}x\\r\\n\\u{200b}\n",
    );
    const line = await results('{"amount":1}\n', "json lines", { status: "refused", error });
    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(line)).toMatchObject({ error });
  });

  it("hold no formula where a spreadsheet splits at another separator", async () => {
    const error = "no;=1+1, @x,-5;\uFF1D1;a";
    const result = { status: "refused", id: "a; +b", url: "https://x/?a;=b,-c,d", error } as const;
    expect(await results("amount\n1\n", "csv", result)).toBe(
      `amount,id,url,status,error\n1,a; '+b,"https://x/?a%3B=b%2C-c,d",refused,"no;'=1+1, '@x,'-5;'\uFF1D1;a"\n`,
    );
  });

  it("round-trip whatever a cell holds, with formulas made harmless", async () => {
    const cell = fc.oneof(
      fc.string(),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("=1+1", "-5", '"', "a\r\nb", ";"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 5 }), async (cells) => {
        const quoted = cells.map((text) => `"${text.replaceAll('"', '""')}"`);
        const text = `amount,colour\n${quoted.map((value) => `1,${value}`).join("\n")}\n`;
        const back = await read(await results(text));
        expect(back.map((row) => row.cells[1]?.value)).toEqual(
          cells.map((value) => value.replace(/^(?=[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/, "'")),
        );
      }),
      { numRuns: 60 },
    );
  });
});
