/** Results that a spreadsheet opens unharmed, and that paylink reads again. */
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readList, type List } from "../../src/lists/read-list.ts";
import { writeResults } from "../../src/bulk/results.ts";
import type { RowOutcome } from "../../src/bulk/outcome.ts";

const SERVICE = "https://pay.example";

async function results(
  text: string,
  format: List["format"] = "csv",
  answer: Partial<RowOutcome> = {},
): Promise<string> {
  const list = await readList(Buffer.from(text));
  const written: Uint8Array[] = [];
  const sent = [...list.rows].map((row, at) => ({
    row,
    terminal: "1",
    outcome: { status: "created" as const, id: `id${at}`, url: `https://x/${at}`, error: null, ...answer },
  }));
  await writeResults(format, { list, results: sent, service: SERVICE }, async (chunks) => {
    for await (const chunk of chunks) written.push(chunk);
  });
  return Buffer.concat(written).toString();
}

describe("the results", () => {
  it("have the row's columns and the link's, in the dialect of the input", async () => {
    expect(await results("\uFEFFAmount;colour\n10;x\n20;\n")).toBe(
      "\uFEFFAmount;colour;id;url;status;error;service\n10;x;id0;https://x/0;created;;https://pay.example 1\n20;;id1;https://x/1;created;;https://pay.example 1\n",
    );
  });

  it("do not overwrite a column of the same name", async () => {
    expect(await results("amount,ID\n1,own\n")).toBe(
      "amount,ID,link_id,url,status,error,service\n1,own,id0,https://x/0,created,,https://pay.example 1\n",
    );
  });

  it("are JSON lines shaped like the rows if the file name says so", async () => {
    expect(await results('{"amount":1.50,"own":{"a":[1]}}\n', "json lines")).toBe(
      '{"amount":1.50,"own":{"a":[1]},"id":"id0","url":"https://x/0","status":"created","service":"https://pay.example 1"}\n',
    );
  });

  it("neutralise formulas in what the service answered", async () => {
    const error = " =1+1\u001B[2J\u009B2J\u202Ex\r\n\u200B";
    expect(await results("amount\n1\n", "csv", { status: "refused", id: "@a", url: "\u0007", error })).toBe(
      "amount,id,url,status,error,service\n1,'@a,\\u{7},refused,'=1+1\\u{1b}[2J\\u{9b}2J\\u{202e}x\\r\\n\\u{200b},https://pay.example 1\n",
    );
    const line = await results('{"amount":1}\n', "json lines", { status: "refused", error });
    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(line)).toMatchObject({ error });
  });

  it("hold no formula where a spreadsheet splits at another separator", async () => {
    const error = "no;=1+1, @x,-5;\uFF1D1;a";
    const result = { status: "refused", id: "a; +b", url: "https://x/?a;=b,-c,d", error } as const;
    expect(await results("amount\n1\n", "csv", result)).toBe(
      `amount,id,url,status,error,service\n1,a; '+b,"https://x/?a%3B=b%2C-c,d",refused,"no;'=1+1, '@x,'-5;'\uFF1D1;a",https://pay.example 1\n`,
    );
  });

  it("are read again as they were written, whatever a cell holds, and have no formula", async () => {
    const cell = fc.oneof(
      fc.string(),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("=1+1", "-5", "'-5", "''=x", "\t=1", '"', "a\r\nb", ";"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 5 }), async (cells) => {
        const quoted = cells.map((text) => `"${text.replaceAll('"', '""')}"`);
        const list = `amount,colour\n${quoted.map((value) => `1,${value}`).join("\n")}\n`;
        const written = await results(list);
        const [first, back] = [await readList(Buffer.from(list)), await readList(Buffer.from(written))];
        expect([...back.rows].map(({ values }) => values[1])).toEqual(
          [...first.rows].map(({ values }) => values[1]),
        );
        const shown = parse(written).flat();
        expect(shown.filter((text) => /^[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/.test(text))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
