/** Card numbers: found in fields and in free text, masked, and never confused with other numbers of a record. */
import { describe, expect, it } from "vitest";
import { isReadableCardNumber, maskCardNumber, maskCardNumbers, maskJson } from "../../src/domain/secrets.ts";
import { JsonNumber } from "../../src/domain/json.ts";

describe("a field that holds a card number", () => {
  it.each([
    ["4111111111111111", "************1111"],
    ["4111 1111 1111 1111", "**** **** **** 1111"],
    ["378282246310005", "***********0005"],
    // Without the check digit of a card number.
    ["4111111111111112", "************1112"],
    ["4222222222222", "*********2222"],
    ["6304000000000000000", "***************0000"],
  ])("shows no more than the last four digits: %s", (text, masked) => {
    expect(isReadableCardNumber(text)).toBe(true);
    expect(maskCardNumber(text)).toBe(masked);
  });

  it.each(["************1111", "476173******0119", "41111111****1111", "", "no card"])(
    "is left alone if it is masked: %s",
    (text) => {
      expect(isReadableCardNumber(text)).toBe(false);
      expect(maskCardNumber(text)).toBe(text);
    },
  );
});

describe("free text", () => {
  it.each([
    ["card 4111111111111111.", "card ************1111."],
    ["4111-1111-1111-1111", "****-****-****-1111"],
    ["3782 822463 10005", "**** ****** *0005"],
    [";4111111111111111=2512", ";************1111=2512"],
    [
      '{"cardPan": "4111111111111112", "stan": "4111111111111112"}',
      '{"cardPan": "************1112", "stan": "4111111111111112"}',
    ],
    ["4111111111111111 and 5555555555554444", "************1111 and ************4444"],
  ])("has its card numbers masked: %s", (text, masked) => {
    expect(maskCardNumbers(text)).toBe(masked);
  });

  it.each([
    // No check digit, a padded number, a time, an id, longer numbers.
    "4111111111111112",
    "000000000012345",
    "1764000000000",
    "8e2f6a4c-4111-1111-1111-111111111111",
    "ORDER4111111111111111",
    "41111111111111114111111111111111",
  ])("keeps other numbers: %s", (text) => {
    expect(maskCardNumbers(text)).toBe(text);
  });
});

it("masks texts and numbers anywhere in a JSON value, and returns a value without card numbers itself", () => {
  const value = { card: [{ number: new JsonNumber("4111111111111111"), scheme: "VISA" }], n: null };
  expect(maskJson(value)).toEqual({ card: [{ number: "************1111", scheme: "VISA" }], n: null });
  const clean = { card: [{ number: "************1111" }], amount: new JsonNumber("10.00"), ok: true };
  expect(maskJson(clean)).toBe(clean);
});
