/** How orders stand: every history of the vectors, which order a reference belongs to, and the words. */
import { describe, expect, it } from "vitest";
import { orderNumberOf } from "../../src/orders/order-number.ts";
import { standingOf } from "../../src/orders/standing.ts";
import { standingText } from "../../src/orders/standing-words.ts";
import { asMembers, histories, orderOf } from "./vectors.ts";

describe("the standing of an order", () => {
  it.each(histories.map((history) => [history.name, history] as const))("%s", (_, history) => {
    expect(asMembers(standingOf(orderOf(history, { knowsLinks: true })))).toEqual(history.standing);
    expect(asMembers(standingOf(orderOf(history, { knowsLinks: false })))).toEqual(history.withoutLinks);
  });
});

describe("the order that a reference belongs to", () => {
  const kinds = new Map([
    ["A-1", "one-time"],
    ["A-2", "one-time"],
    ["A-2-123456789", "one-time"],
    ["R-1", "reusable"],
    ["R-2-", "reusable"],
  ] as const);
  const kindOfLink = (number: string) => new Map<string, "one-time" | "reusable">(kinds).get(number);

  it.each([
    ["A-1", "A-1"],
    ["A-1-123456789", "A-1-123456789"],
    ["A-2-123456789", "A-2-123456789"],
    ["R-1-123456789", "R-1"],
    ["R-1--123456789", "R-1"],
    ["R-1", "R-1"],
    ["R-2--123456789", "R-2-"],
    ["R-2---123456789", "R-2-"],
    ["R-1-12345678", "R-1-12345678"],
    [" R-1-123456789\u00a0", "R-1"],
    ["unknown-123456789", "unknown-123456789"],
  ])("%s is of %s", (reference, number) => {
    expect(orderNumberOf(reference, kindOfLink)).toBe(number);
  });
});

describe("the words", () => {
  it.each([
    ["one of two links is paid", "Paid once, EUR 20.00; a second link can still be paid, EUR 20.00: L2"],
    ["a link that nobody has paid", "Not paid; its link can still be paid, EUR 20.00: L1"],
    ["two open links", "Not paid; 2 links can still be paid: EUR 20.00: L1; EUR 20.00: L2"],
    ["two whole payments of one link", "Paid twice, EUR 40.00: EUR 20.00 too much"],
    ["corrected to more than the link", "Paid, EUR 25.00: EUR 5.00 too much"],
    ["authorised twice", "Reserved twice, EUR 40.00: EUR 20.00 too much"],
    ["authorised", "Reserved, not taken: EUR 20.00"],
    ["a part and the rest", "Paid in 2 parts, EUR 20.00"],
    [
      "a part of a link",
      "Paid in part, EUR 8.00; EUR 12.00 is missing; its link can still be paid, EUR 20.00: L1",
    ],
    [
      "a half, and a new link for the other",
      "Paid in part, EUR 10.00; EUR 10.00 is missing; its link can still be paid, EUR 10.00: L2",
    ],
    ["authorised in part", "Reserved, not taken: EUR 8.00; its link can still be paid, EUR 20.00: L1"],
    ["a card verified over 0", "Its card was verified, and nothing was taken"],
    ["an approved payment that says no amount", "Paid once, an unknown amount"],
  ])("%s: %s", (name, text) => {
    const history = histories.find((one) => one.name === name);
    if (history === undefined) throw new Error(`no history is named ${name}`);
    expect(standingText(standingOf(orderOf(history, { knowsLinks: true })))).toBe(text);
  });
});
