/** The reply to a created link: shown whatever it holds, with each broken rule of the specification named. */

import type { PaymentLinkRequest } from "../../src/domain/payment-link-shapes.ts";
import { describe, expect, it, test } from "vitest";
import { isJsonObject, type Json } from "../../src/values/json.ts";
import { parseJson } from "../../src/values/parse-json.ts";
import { readPaymentLink } from "../../src/domain/payment-link-reply.ts";
import { checkRequest } from "../../src/domain/payment-link.ts";

function read(text: string): Json {
  const json = parseJson(text);
  if (!json.ok) throw new Error(json.message);
  return json.value.value;
}

function requested(text: string): PaymentLinkRequest {
  const { request } = checkRequest(read(text), new Date(0));
  if (request === null) throw new Error("no request");
  return request;
}

const ONE_TIME = requested(`{"amount":10.00,"currency":"EUR","terminalId":"1","customerName":"Ada",
  "invoiceId":"INV-1","description":"Tea","expirationDate":"2025-02-07T12:00:00Z"}`);
const REUSABLE = requested(`{"amount":10.00,"currency":"EUR","terminalId":"1","customerName":"Ada",
  "invoiceId":"INV-1","description":"Tea",
  "linkOptions":{"mode":"REUSABLE_VARIABLE","minAmount":"5.00","maxAmount":50}}`);

const REPLY = `{"id":"a b","amount":10,"currency":"EUR","invoiceId":"INV-1","terminalId":"1","customerName":"Ada",
  "description":"Tea","createdDate":"2025-01-31T12:00:00.123456Z","expirationDate":"2025-02-07T12:00:00Z",
  "viewedDate":null,"attemptedDate":null,"paidDate":null,"cancelledDate":null,"status":"active",
  "url":"https://pay.example/link?x=1&r=a%20b"}`;
const OPTIONS = '{"mode":"REUSABLE_VARIABLE","minAmount":5,"maxAmount":"50.00"}';

/** The reply with one member set to a JSON text, or removed. */
function changed(name: string, text?: string): Json {
  const reply = read(REPLY);
  if (!isJsonObject(reply)) throw new Error(name);
  if (text === undefined) delete reply[name];
  else reply[name] = read(text);
  return reply;
}

test("has no violations in replies that keep the rules, one-time and multi-use", () => {
  expect(readPaymentLink(read(REPLY), ONE_TIME).violations).toEqual([]);
  expect(readPaymentLink(read(REPLY)).violations).toEqual([]);
  expect(readPaymentLink(changed("linkOptions", OPTIONS), REUSABLE).violations).toEqual([]);
});

const NAMES = Object.keys(read(REPLY) ?? {});

describe("a member", () => {
  it.each(NAMES)("%s that was sent or is required is reported as missing", (name) => {
    expect(readPaymentLink(changed(name), ONE_TIME).violations.map(({ at }) => at)).toEqual([name]);
  });

  it.each(NAMES)("%s of a wrong type is left out of the link and reported once", (name) => {
    const { link, violations } = readPaymentLink(changed(name, "true"), ONE_TIME);
    expect(violations.map(({ at }) => at)).toEqual([name]);
    expect(link).not.toHaveProperty(name);
    expect(Object.keys(link)).toHaveLength(NAMES.length - 1);
  });

  it.each(["invoiceId", "description"])("%s may be null if it was not sent", (name) => {
    expect(readPaymentLink(changed(name, "null"))).toMatchObject({ violations: [] });
    const { [name]: _, ...rest } = JSON.parse(JSON.stringify(ONE_TIME));
    const unsent = requested(JSON.stringify({ ...rest, amount: 10 }));
    expect(readPaymentLink(changed(name, "null"), unsent).violations).toEqual([]);
  });

  it.each(NAMES)("%s that was sent may be null only where it dates an event", (name) => {
    const at = readPaymentLink(changed(name, "null"), ONE_TIME).violations.map(({ at }) => at);
    const dates = ["viewedDate", "attemptedDate", "paidDate", "cancelledDate"];
    expect(at).toEqual(dates.includes(name) ? [] : [name]);
  });
});

test.each([
  ["amount", "10.01"],
  ["amount", '"10.00"'],
  ["currency", '"USD"'],
  ["invoiceId", '"INV-2"'],
  ["status", '"paid"'],
  ["createdDate", '"yesterday"'],
  ["expirationDate", '"2025-02-30T00:00:00Z"'],
  ["viewedDate", '"2025-01-31T12:00:00+01:00"'],
  ["url", '"https://pay.example/link"'],
  ["url", '"https://pay.example/link?r=b"'],
  ["url", '"/link?r=a%20b"'],
  ["url", '"javascript:alert(1)?r=a%20b"'],
  ["linkOptions", OPTIONS],
])("%s %s is a violation, and is shown", (name, value) => {
  const { violations, link } = readPaymentLink(changed(name, value), ONE_TIME);
  expect(violations.map(({ at }) => at)).toEqual([name]);
  expect(link.url).toBeDefined();
});

test.each([
  [undefined, "linkOptions"],
  ["null", "linkOptions"],
  ['{"minAmount":5,"maxAmount":50}', "linkOptions.mode"],
  ['{"mode":"REUSABLE_VARIABLE","minAmount":5.01,"maxAmount":50}', "linkOptions.minAmount"],
  ['{"mode":"REUSABLE_VARIABLE","minAmount":5}', "linkOptions.maxAmount"],
  ['{"mode":"REUSABLE_VARIABLE","minAmount":"five","maxAmount":50}', "linkOptions.minAmount"],
])("a multi-use reply with linkOptions %s breaks %s", (options, at) => {
  const { violations } = readPaymentLink(changed("linkOptions", options), REUSABLE);
  expect(violations.map((violation) => violation.at)).toEqual([at]);
});

test("an amount that is text, and not the one sent, breaks both rules", () => {
  const { link, violations } = readPaymentLink(changed("amount", '"10.01"'), ONE_TIME);
  expect(link.amount).toBe("10.01");
  expect(violations).toEqual([
    { at: "amount", message: "must be a number" },
    { at: "amount", kind: "must be as sent", message: `must be as sent (${ONE_TIME.amount.toString()})` },
  ]);
});

test.each([
  '"0001-01-01T00:00:00Z"',
  '"1970-01-01T00:00:00"',
  '"1899-12-30T00:00:00Z"',
  '"0000-00-00 00:00:00"',
  '"-"',
  "0",
  "-62135596800",
])("a placeholder date (%s) is not a date", (never) => {
  const { link } = readPaymentLink(changed("paidDate", never), ONE_TIME);
  expect(link.paidDate).toBeUndefined();
});

test.each(['"2026-11-26T20:10:00Z"', '"2026-11-26T20:10:00"', '"26.11.2026 20:10"', "1796140800"])(
  "a date in another form (%s) is shown",
  (date) => {
    const { link } = readPaymentLink(changed("paidDate", date), ONE_TIME);
    expect(link.paidDate?.toString()).toBe(date.replaceAll('"', ""));
  },
);

test("unknown members are kept and are no violations", () => {
  const { link, violations } = readPaymentLink(changed("region", '"eu"'), ONE_TIME);
  expect(violations).toEqual([]);
  expect(link).toMatchObject({ region: "eu" });
});

test("a value other than an object is an empty link with one violation", () => {
  expect(readPaymentLink(read("[]"), ONE_TIME)).toEqual({
    link: {},
    violations: [{ at: "", message: "must be a JSON object" }],
    asksForOther: false,
  });
});

test("the url is read even if everything else is missing", () => {
  const { link, violations } = readPaymentLink(read('{"url":"https://pay.example/?r=1"}'));
  expect(link).toEqual({ url: "https://pay.example/?r=1" });
  expect(violations).toHaveLength(12);
});
