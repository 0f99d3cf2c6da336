/** Amounts and currencies: exact, whatever their length, and written as the currency writes them. */

import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  compareAmounts,
  decimalsOf,
  decimalsProblem,
  exponentOf,
  formatAmount,
  isKnownCurrency,
  minorUnitsOf,
  parseAmount,
  parseCurrency,
  signOf,
  Sums,
} from "../../src/domain/money.ts";
import { JsonNumber } from "../../src/values/json.ts";

/** Any number of JSON, with its exact value times 10^120. */
const jsonNumber = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.stringMatching(/^(0|[1-9][0-9]{0,40})$/),
    fc.stringMatching(/^[0-9]{0,20}$/),
    fc.integer({ min: -60, max: 60 }),
  )
  .map(([minus, whole, fraction, exponent]) => ({
    text: `${minus}${whole}${fraction === "" ? "" : `.${fraction}`}e${exponent}`,
    exact: BigInt(`${minus}${whole}${fraction}`) * 10n ** BigInt(120 - fraction.length + exponent),
  }));
const signOfDifference = (difference: bigint): number => (difference === 0n ? 0 : difference > 0n ? 1 : -1);

const decimal = fc.stringMatching(/^(0|[1-9][0-9]{0,40})(\.[0-9]{1,20})?$/);

test.each([
  ["EUR", 2],
  ["JPY", 0],
  ["KWD", 3],
  ["CLF", 4],
  ["ISK", 0],
  ["eur", 2],
  ["XYZ", undefined],
  ["XAU", undefined],
  ["XTS", undefined],
  ["constructor", undefined],
])("%s has %s decimals", (code, exponent) => expect(exponentOf(code)).toBe(exponent));

test("metals and test codes are known, though they have no minor unit", () => {
  expect(["EUR", "xts", "XYZ"].map(isKnownCurrency)).toEqual([true, true, false]);
});

// Amendments 176 to 180: the Caribbean guilder for the Antillean one, Zimbabwe Gold, Bulgaria's euro.
test("the currencies are those of today", () => {
  const codes = "XCG ZWG XAD SLE VES VED ANG ZWL CUC SLL HRK BGN".split(" ");
  expect(codes.filter(isKnownCurrency)).toEqual(["XCG", "ZWG", "XAD", "SLE", "VES", "VED"]);
});

test("a currency code is three letters, upper-cased", () => {
  expect(parseCurrency("eur")).toEqual({ ok: true, value: "EUR" });
  for (const wrong of ["", "EU", "EURO", "E1R", " EUR", "ſſſ"])
    expect(parseCurrency(wrong)).toMatchObject({
      message: expect.stringContaining("three-letter") as string,
    });
});

describe("parseAmount", () => {
  test.each([
    ["10", "10"],
    ["10.00", "10.00"],
    ["0", "0"],
    [".5", "0.5"],
    [" 12.5\n", "12.5"],
    ["123456789012345678901234567890.123456789", "123456789012345678901234567890.123456789"],
  ])("reads %j as %s", (text, spelled) => {
    const parsed = parseAmount(text);
    expect(parsed.ok && parsed.value.value).toBe(spelled);
  });

  test.each([
    "",
    ".",
    "1.",
    "+1",
    "-1",
    "1e3",
    "007",
    "1,000",
    "1.000,50",
    "1'000",
    "1 000",
    "€10",
    "10 EUR",
    "0x10",
    "NaN",
  ])("refuses %j and shows an example", (text) => {
    const parsed = parseAmount(text);
    expect(parsed.ok ? "" : parsed.message).toBe("must be a plain decimal of 0 or more, such as 10.50");
  });

  it("shows the amount itself if only the comma is wrong", () => {
    const parsed = parseAmount("7,25");
    expect(parsed.ok ? "" : parsed.message).toContain("such as 7.25");
  });

  it("is fast with a number of any length", () => {
    const zeros = "0".repeat(1_000_000);
    expect(compareAmounts(`1${zeros}1`, `1${zeros}2`)).toBe(-1);
  });

  it("keeps every digit", () => {
    fc.assert(
      fc.property(decimal, (text) => {
        const parsed = parseAmount(text);
        expect(parsed.ok && parsed.value.value).toBe(text);
      }),
    );
  });
});

describe("compareAmounts", () => {
  it("agrees with whole-number arithmetic for signs and exponents too", () => {
    fc.assert(
      fc.property(jsonNumber, jsonNumber, (first, second) => {
        expect(compareAmounts(first.text, second.text)).toBe(signOfDifference(first.exact - second.exact));
      }),
    );
  });

  test.each<[string, string, number]>([
    ["0.1", "0.10", 0],
    ["1e2", "100.00", 0],
    ["-0", "0", 0],
    ["-1", "0", -1],
    ["9007199254740993", "9007199254740992", 1],
    ["1e999999999", "1e-999999999", 1],
  ])("%s to %s is %i", (first, second, sign) => {
    expect(compareAmounts(new JsonNumber(first), new JsonNumber(second))).toBe(sign);
  });
});

describe("signOf", () => {
  it("agrees with whole-number arithmetic", () => {
    fc.assert(
      fc.property(jsonNumber, ({ text, exact }) => {
        expect(signOf(new JsonNumber(text))).toBe(signOfDifference(exact));
      }),
    );
  });

  test.each([
    ["-0.00", 0],
    ["0e5", 0],
    ["0.0E-7", 0],
    ["-0.01", -1],
    ["1e-999999999", 1],
  ])("of %s is %i", (text, sign) => {
    expect(signOf(new JsonNumber(text))).toBe(sign);
  });
});

test.each([
  ["10", 0],
  ["10.00", 2],
  ["1e-3", 3],
  ["1.25e1", 1],
  ["1.5e9", 0],
])("%s is spelled with %i decimals", (text, decimals) => expect(decimalsOf(text)).toBe(decimals));

test.each([
  ["10.00", "EUR", undefined],
  ["10.000", "EUR", "must have at most 2 decimals in EUR, such as 1000.00"],
  ["1000", "JPY", undefined],
  ["1000.0", "jpy", "must have no decimals in JPY, such as 1000"],
  ["1.500", "KWD", undefined],
  ["1.5005", "KWD", "must have at most 3 decimals in KWD, such as 1000.000"],
  ["1.23456", "XYZ", undefined],
])("decimals of %s %s: %s", (text, currency, problem) => {
  expect(decimalsProblem(new JsonNumber(text), currency)).toBe(problem);
});

describe("formatAmount", () => {
  test.each([
    ["10", "EUR", "EUR 10.00"],
    ["10.5", "eur", "EUR 10.50"],
    ["1000", "JPY", "JPY 1000"],
    ["1.5", "KWD", "KWD 1.500"],
    ["1.234567", "EUR", "EUR 1.234567"],
    ["10.5", "XYZ", "XYZ 10.5"],
    ["-3", "EUR", "EUR -3.00"],
    ["1.5e3", "EUR", "EUR 1500.00"],
    ["15E-4", "EUR", "EUR 0.0015"],
    ["0.05e1", "EUR", "EUR 0.50"],
    ["1e999999999", "EUR", "EUR 1e999999999"],
    ["free", "EUR", "EUR free"],
  ])("%s %s is %s", (text, currency, shown) => expect(formatAmount(text, currency)).toBe(shown));

  it("parses back to the same amount, with at least the currency's decimals", () => {
    fc.assert(
      fc.property(decimal, fc.constantFrom("EUR", "JPY", "KWD", "XYZ"), (text, currency) => {
        const shown = formatAmount(new JsonNumber(text), currency).slice(4);
        const parsed = parseAmount(shown);
        expect(parsed.ok && compareAmounts(parsed.value, text)).toBe(0);
        expect(shown.startsWith(text)).toBe(true);
        expect(decimalsOf(shown)).toBe(Math.max(decimalsOf(text), exponentOf(currency) ?? 0));
      }),
    );
  });
});

describe("minor units", () => {
  it.each<[string, string, bigint | undefined]>([
    ["10.50", "EUR", 1050n],
    ["10", "eur", 1000n],
    ["1.05e1", "EUR", 1050n],
    ["10.500", "EUR", 1050n],
    ["1.5", "KWD", 1500n],
    ["-0.00", "EUR", 0n],
    ["12345678901234567890.12", "EUR", 1234567890123456789012n],
    ["0.5", "JPY", undefined],
    ["1e-3", "EUR", undefined],
    ["1e400", "EUR", undefined],
    ["10", "XAU", undefined],
    ["", "EUR", undefined],
    ["1,000", "EUR", undefined],
  ])("of %s %s are %s", (amount, currency, units) => {
    expect(minorUnitsOf(amount, currency)).toBe(units);
  });
});

describe("an amount with a decimal comma", () => {
  it.each([
    ["10,50", "10.50"],
    [" 10 ", "10"],
    ["0,5", "0.5"],
    ["1.234,50", "1234.50"],
    ["1.234.567,5", "1234567.5"],
    [",5", "0.5"],
    ["1234,567", "1234.567"],
  ])("%s is %s", (text, plain) => {
    expect(parseAmount(text, ",")).toEqual({ ok: true, value: new JsonNumber(plain) });
  });

  it.each([
    "1.234",
    "10.50",
    "1,234.50",
    "1.23,4",
    "12.34.567",
    "1 234.567,8",
    "-1,5",
    "1,",
    "1.234.567",
    "01,5",
    "€ 1,5",
    "",
  ])("%s is refused", (text) => {
    expect(parseAmount(text, ",").ok).toBe(false);
  });
});

describe("sums", () => {
  it("are exact, by currency, in any spelling of the numbers", () => {
    const amount = fc.record({
      units: fc.bigInt({ min: 0n, max: 10n ** 30n }),
      decimals: fc.nat({ max: 6 }),
      currency: fc.constantFrom("EUR", "eur", "KWD"),
    });
    fc.assert(
      fc.property(fc.array(amount), (amounts) => {
        const sums = new Sums();
        const units = new Map<string, bigint>();
        for (const { units: own, decimals, currency } of amounts) {
          const code = currency.toUpperCase();
          units.set(code, (units.get(code) ?? 0n) + own * 10n ** BigInt(6 - decimals));
          sums.add(`${own}e-${decimals}`, currency);
        }
        const found = sums.list().map(({ currency, amount: sum }) => {
          const [whole = "", fraction = ""] = sum.split(".");
          return [currency, BigInt(whole + fraction.padEnd(6, "0"))];
        });
        expect(found).toEqual([...units].toSorted(([one], [other]) => (one < other ? -1 : 1)));
      }),
    );
  });

  it("leave out amounts without a currency", () => {
    const sums = new Sums();
    for (const amount of ["1e999999999", "1e-999999999", "0.10", "0.2"]) sums.add(amount, "EUR");
    expect(sums.list()).toEqual([{ currency: "EUR", amount: "0.30" }]);
  });
});
