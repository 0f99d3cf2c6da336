/** Amounts as customers type them: what each means in its currency, and what could mean two things. */
import { describe, expect, it } from "vitest";
import { parseEnteredAmount } from "../../src/domain/money.ts";

describe("an amount that can mean one number", () => {
  it.each([
    ["10", "EUR", "10"],
    [" 10.5 ", "EUR", "10.5"],
    ["10,50", "EUR", "10.50"],
    ["10,5", "EUR", "10.5"],
    [",5", "EUR", "0.5"],
    [".5", "EUR", "0.5"],
    ["1,234.50", "EUR", "1234.50"],
    ["1.234,50", "EUR", "1234.50"],
    ["1,234,567", "EUR", "1234567"],
    ["1.234.567", "EUR", "1234567"],
    ["1 234 567,50", "EUR", "1234567.50"],
    ["1\u202F234.50", "EUR", "1234.50"],
    ["12'000", "CHF", "12000"],
    ["1,000", "JPY", "1000"],
    ["0,500", "KWD", "0.500"],
    ["1,50", "KWD", "1.50"],
    ["1,234,500", "KWD", "1234500"],
    ["1.500", "KWD", "1.500"],
  ])("%s in %s is %s", (text, currency, amount) => {
    const parsed = parseEnteredAmount(text, currency);
    expect(parsed.ok ? parsed.value.toString() : parsed.message).toBe(amount);
  });
});

describe("an amount that is refused", () => {
  it.each([
    ["1,000", "EUR", "could mean 1000 or 1.000: write it without a comma"],
    ["1,500", "KWD", "could mean 1500 or 1.500: write it without a comma"],
    ["1,000", "ZZZ", "could mean 1000 or 1.000: write it without a comma"],
    ["10,505", "EUR", "could mean 10505 or 10.505: write it without a comma"],
    ["1.000", "EUR", "must have at most 2 decimals in EUR, such as 1000.00"],
    ["0,500", "EUR", "must have at most 2 decimals in EUR, such as 1000.00"],
    ["10,50", "JPY", "must have no decimals in JPY, such as 1000"],
    ["0", "EUR", "must be a number above 0, such as 10.50"],
    ["0", "JPY", "must be a number above 0, such as 10"],
    ["-5", "EUR", "must be a number above 0, such as 10.50"],
    ["1e3", "EUR", "must be a number above 0, such as 10.50"],
    ["12,34,567", "EUR", "must be a number above 0, such as 10.50"],
    ["1 23", "EUR", "must be a number above 0, such as 10.50"],
    ["1,234.567,8", "EUR", "must be a number above 0, such as 10.50"],
    ["ten", "EUR", "must be a number above 0, such as 10.50"],
    ["", "EUR", "must be a number above 0, such as 10.50"],
  ])("%s in %s %s", (text, currency, message) => {
    expect(parseEnteredAmount(text, currency)).toMatchObject({ ok: false, message });
  });
});
