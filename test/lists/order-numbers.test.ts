/** What spreadsheets and data tools make of order numbers. */
import { describe, expect, it } from "vitest";
import { numberKey, orderNumberProblem, orderNumberWarnings } from "../../src/lists/order-numbers.ts";

describe("an order number", () => {
  it.each(["1.00E+07", "1E+12", "1,23457E+16", "1.5e-05"])(
    "is refused as a shortened number: %s",
    (number) => {
      expect(orderNumberProblem(number)).toMatch(/^is a number that a spreadsheet has shortened \(got /);
    },
  );

  it.each(["1E5", "12E45", "A-1E+07", "1.00", "E+07", "10E+07"])("may be %s", (number) => {
    expect(orderNumberProblem(number)).toBeUndefined();
  });

  it.each([
    ["2026-01-01", /date/],
    ["2026-01-01 00:00:00", /date/],
    ["2026-01-01T00:00:00.000Z", /date/],
    ["2026-01-01T00:00:00+00:00", /date/],
    ["Jan-26", /date/],
    ["2-Feb", /date/],
    ["01.01.2026", /date/],
    ["1/2/26", /date/],
    ["1001.0", /decimals/],
  ])("gives a warning as %s", (number, words) => {
    expect(orderNumberWarnings("invoiceId", number)).toMatchObject([
      { at: "invoiceId", message: expect.stringMatching(words) },
    ]);
  });

  it.each(["2026-001", "12-34-56", "A-26", "1001", "10.5", "INV-2026-01-01"])(
    "gives no warning as %s",
    (number) => {
      expect(orderNumberWarnings("invoiceId", number)).toEqual([]);
    },
  );

  it.each([
    ["5", "005 +5 5.0 5,00 '005 0000000005"],
    ["1001", "1,001 1.001 1'001 1\u2019001 01001 1.001E+3 1001.00"],
    ["100", "1E2 1e2 0100"],
    ["A-1", "'A-1"],
  ])("%s has one key in all spellings: %s", (number, spellings) => {
    for (const spelling of spellings.split(" ")) expect(numberKey(spelling)).toBe(numberKey(number));
  });

  it("has another key in any other spelling", () => {
    for (const [one = "", other = ""] of [
      ["A-1", "a-1"],
      ["A-01", "A-1"],
      ["10", "100"],
      ["1.5", "15"],
    ])
      expect(numberKey(one)).not.toBe(numberKey(other));
  });
});
