/** The signs of amounts in cells: a refund must never be read as money that came in. */
import { expect, it } from "vitest";
import { listedAmount } from "../../src/lists/amounts.ts";

it.each([
  ["-5.00", "-5.00"],
  ["−5.00", "-5.00"],
  ["5.00-", "-5.00"],
  ["(5.00)", "-5.00"],
  ["(€5.00)", "-5.00"],
  ["EUR -5.00", "-5.00"],
  ["+5.00", "5.00"],
])("%s is %s", (cell, amount) => {
  expect(listedAmount(cell, false)).toMatchObject({ ok: true, value: { amount } });
});

it.each(["(-5.00)", "-(5.00)", "(5.00-)", "--5.00", "-5.00-", "+-5.00"])(
  "%s has two signs, and is refused",
  (cell) => {
    expect(listedAmount(cell, false)).toMatchObject({ ok: false });
  },
);
