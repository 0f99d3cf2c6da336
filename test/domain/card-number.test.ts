/** Card numbers: found in fields and in free text, masked, and never confused with other numbers of a record. */
import { describe, expect, it } from "vitest";
import {
  isReadableCardNumber,
  maskCardNumber,
  maskCardNumbers,
  maskCardFields,
} from "../../src/domain/card-numbers.ts";
import { JsonNumber } from "../../src/values/json.ts";

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

describe("the members of a record", () => {
  const NUMBER = "4111111111111112";
  it.each([
    { cardPan: NUMBER },
    { cardPan: new JsonNumber(NUMBER) },
    { pan: NUMBER },
    { cardNumber: "4111-1111-1111-1112" },
    { customer: [{ card_number: NUMBER }] },
    { payment: { card: { number: new JsonNumber(NUMBER), scheme: "VISA" } } },
    { cards: [{ number: NUMBER }, NUMBER] },
    { primaryAccountNumber: NUMBER, maskedPan: "4111 1111 1111 1112" },
  ])("are masked where they are for card numbers: %j", (value) => {
    const text = JSON.stringify(maskCardFields(value)).replaceAll("-", "").replaceAll(" ", "");
    expect(text).not.toContain("41111111");
    expect(text).toContain("1112");
  });

  it.each([
    { orderId: "4111111111111111", batch: new JsonNumber("4111111111111111") },
    { stan: "4111111111111111", receiptNumber: "4111111111111111", cardPanSequenceNumber: NUMBER },
    { cardToken: NUMBER, cardId: NUMBER, merchantTokenId: NUMBER, company: NUMBER, number: NUMBER },
    { card: "8e2f6a4c-4111-1111-1111-111111111111", cardNumber: "4111111111111111411111111111" },
    { cardPan: "476173******0119", card: [{ number: "************1111" }], ok: true, nothing: null },
  ])("are the same otherwise, whatever they look like: %j", (value) => {
    expect(maskCardFields(value)).toBe(value);
  });
});
