/** The encodings of books: banks write Windows-1252, spreadsheets UTF-16, and what is neither stays as it is. */
import { describe, expect, it } from "vitest";
import { asUtf8 } from "../../src/lists/list-text.ts";
import { readBooks } from "../../src/reconcile/books.ts";

const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, "utf16le");

describe("a text of books", () => {
  it.each([
    [
      "Windows-1252",
      Buffer.from("Währung;Rückzahlung;10,00 \x80 \x96 \x9F", "latin1"),
      "Währung;Rückzahlung;10,00 € – Ÿ",
    ],
    ["Windows-1252 in French", Buffer.from("déjà\xA0: payé", "latin1"), "déjà\xA0: payé"],
    ["UTF-16", utf16("Währung"), "\uFEFFWährung"],
    ["UTF-16, the other way round", utf16("Währung").swap16(), "\uFEFFWährung"],
    ["UTF-8", Buffer.from("\uFEFFWährung 1\u202F000 € 😀"), "\uFEFFWährung 1\u202F000 € 😀"],
    ["ASCII", Buffer.from("amount"), "amount"],
  ])("in %s is read", (_, bytes, text) => {
    // A decoder leaves a mark out.
    expect(
      Buffer.from(asUtf8(bytes))
        .toString("utf8")
        .replace(/^\uFEFF/, ""),
    ).toBe(text.replace(/^\uFEFF/, ""));
  });

  it.each([
    ["UTF-8 with a broken letter", Buffer.concat([Buffer.from("Währung"), Buffer.from([0xc3, 0x0a])])],
    ["a workbook", Buffer.from("d0cf11e0a1b11ae10000", "hex")],
  ])("that is %s stays as it is, and is refused", async (_, bytes) => {
    expect(asUtf8(bytes)).toBe(bytes);
    await expect(
      readBooks(bytes, {
        map: [],
        currency: undefined,
        decimalComma: false,
        signal: new AbortController().signal,
      }),
    ).rejects.toMatchObject({ code: "file_unreadable" });
  });
});

it("takes back what was paid back, in Windows-1252 as in UTF-8", async () => {
  const text = "Rechnung;Währung;Betrag;Vorgang\nA-1;EUR;10,00;Zahlung\nA-1;EUR;4,00;Rückerstattung\n";
  const read = async (bytes: Buffer) => {
    const { lines } = await readBooks(bytes, {
      map: [],
      currency: undefined,
      decimalComma: true,
      signal: new AbortController().signal,
    });
    return lines.map(({ amount, currency }) => [amount, currency]);
  };
  const expected = [
    ["10.00", "EUR"],
    ["-4.00", "EUR"],
  ];
  expect(await read(Buffer.from(text, "latin1"))).toEqual(expected);
  expect(await read(Buffer.from(text))).toEqual(expected);
});
