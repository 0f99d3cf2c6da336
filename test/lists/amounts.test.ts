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

it.each([
  ["1.000", "1000"],
  ["-1.234.567", "-1234567"],
  ["1.250,5", "1250.5"],
  ["1\u202F120,00", "1120.00"],
])("%s is %s where a comma is the decimal mark", (cell, amount) => {
  expect(listedAmount(cell, true)).toMatchObject({ ok: true, value: { amount } });
});

it.each(["1.00", "10.000.00", "1.0000"])("%s is refused where a comma is the decimal mark", (cell) => {
  expect(listedAmount(cell, true)).toMatchObject({ ok: false });
});
