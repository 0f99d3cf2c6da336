/** The request of a payment link: every rule of the specification's tables, every problem named at once. */

import { requestFields } from "../../src/domain/payment-link-field-lookup.ts";
import { describe, expect, it, test } from "vitest";
import { isJsonObject, type Json, stringifyJson } from "../../src/values/json.ts";
import { parseJson } from "../../src/values/parse-json.ts";
import { checkRequest } from "../../src/domain/payment-link.ts";
import { fieldFromText } from "../../src/domain/payment-link-values.ts";

const NOW = new Date("2025-01-31T12:00:00Z");

function read(text: string): Json {
  const json = parseJson(text);
  if (!json.ok) throw new Error(json.message);
  return json.value.value;
}

const ONE_TIME = `{"amount":10.00,"currency":"EUR","terminalId":"1234567890","customerName":"Ada",
  "expirationDate":"2025-02-07T12:00:00Z"}`;
const REUSABLE = `{"amount":0,"currency":"EUR","terminalId":"1234567890","customerName":"Ada",
  "linkOptions":{"mode":"REUSABLE_VARIABLE"}}`;

const SUBSCRIPTION = '{"periodicType":"ucof","sequenceType":"initial"}';

/** The base with one member (a dotted path) set to a JSON text, or removed. */
function changed(base: string | Json, path: string, text?: string): Json {
  const request = typeof base === "string" ? read(base) : base;
  const names = path.split(".");
  const last = names.pop() ?? "";
  let object = request;
  for (const name of names) {
    if (!isJsonObject(object)) throw new Error(path);
    object = object[name] ??= {};
  }
  if (!isJsonObject(object)) throw new Error(path);
  if (text === undefined) delete object[last];
  else object[last] = read(text);
  return request;
}

function findings(checked: unknown) {
  const { warnings, ...found } = checkRequest(checked, NOW);
  return { ...found, warnings: warnings() };
}
const problemsAt = (request: unknown) => checkRequest(request, NOW).problems.map(({ at }) => at);
const warningsAt = (request: unknown) =>
  checkRequest(request, NOW)
    .warnings()
    .map(({ at }) => at);

test("the shortest requests of both kinds pass unchanged", () => {
  for (const text of [ONE_TIME, REUSABLE]) {
    const request = read(text);
    expect(findings(request)).toEqual({ request, problems: [], warnings: [] });
    expect(checkRequest(request, NOW).request).toBe(request);
  }
});

test("every field of the specification is known, in its order", () => {
  expect(requestFields().join(" ")).toBe(
    "amount currency invoiceId terminalId expirationDate customerName description transactionType " +
      "merchantCustomData periodic.periodicType periodic.sequenceType paymentSettings.returnUrl " +
      "paymentSettings.failureReturnUrl paymentSettings.callbackUrl paymentSettings.failureCallbackUrl " +
      "customerDetails.email customerDetails.billingAddress.firstName customerDetails.billingAddress.lastName " +
      "customerDetails.billingAddress.address1 customerDetails.billingAddress.addressLine1 " +
      "customerDetails.billingAddress.address2 customerDetails.billingAddress.city " +
      "customerDetails.billingAddress.postalcode customerDetails.billingAddress.postalCode " +
      "customerDetails.billingAddress.country linkOptions.mode linkOptions.minAmount linkOptions.maxAmount " +
      "linkOptions.paymentReferenceMode",
  );
});

test.each(["amount", "currency", "terminalId", "customerName", "expirationDate"])(
  "%s is required",
  (field) => {
    const { problems, request } = checkRequest(changed(ONE_TIME, field), NOW);
    expect(problems).toEqual([{ at: field, message: expect.stringMatching(/^is required/) }]);
    expect(request).toBeNull();
  },
);

describe("every field has one type", () => {
  it.each(
    requestFields().flatMap((field) => ["null", "true", "[]", "{}"].map((value) => [field, value] as const)),
  )("%s is not %s", (field, value) => {
    expect(problemsAt(changed(REUSABLE, field, value))).toEqual([field]);
  });

  it.each([
    "periodic",
    "paymentSettings",
    "customerDetails",
    "customerDetails.billingAddress",
    "linkOptions",
  ])("%s is an object", (field) => {
    for (const value of ["null", '"x"', "[]", "1"]) {
      expect(problemsAt(changed(ONE_TIME, field, value))).toEqual([field]);
    }
  });

  it.each(["null", "[]", "3", '"x"', "true"])("a request is not %s", (text) => {
    expect(checkRequest(read(text), NOW).problems).toEqual([{ at: "", message: "must be a JSON object" }]);
  });
});

test.each<[field: string, value: string, base?: string]>([
  ["amount", "-0.01"],
  ["amount", "10.001"],
  ["amount", "10.000"],
  ["amount", '"10.00"'],
  ["amount", "1e-3"],
  ["currency", '"EURO"'],
  ["currency", '"€"'],
  ["terminalId", '""'],
  ["terminalId", "1234567890"],
  ["customerName", '"  "'],
  ["expirationDate", '"2025-01-31T11:59:59Z"'],
  ["expirationDate", '"2025-01-31T12:00:00Z"'],
  ["expirationDate", '"2025-02-07"'],
  ["expirationDate", '"2025-02-07T12:00:00+02:00"'],
  ["expirationDate", '"2025-02-30T12:00:00Z"'],
  ["expirationDate", '"7d"'],
  ["expirationDate", '"2025-01-30T00:00:00Z"', REUSABLE],
  ["transactionType", '""'],
  ["periodic.periodicType", '"UCOF"'],
  ["periodic.sequenceType", '"recurring"'],
  ["paymentSettings.returnUrl", '"shop.example"'],
  ["paymentSettings.failureReturnUrl", '"/failed"'],
  ["paymentSettings.callbackUrl", '"ftp://shop.example"'],
  ["paymentSettings.failureCallbackUrl", '""'],
  ["customerDetails.email", '"ada"'],
  ["customerDetails.email", '"ada @shop.example"'],
  ["linkOptions.minAmount", '"-1"', REUSABLE],
  ["linkOptions.minAmount", '"5,00"', REUSABLE],
  ["linkOptions.maxAmount", '"1e3"', REUSABLE],
  ["linkOptions.maxAmount", "-1", REUSABLE],
  ["linkOptions.maxAmount", '"5.001"', REUSABLE],
  ["linkOptions.mode", '""', REUSABLE],
])("%s must not be %s", (field, value, base = ONE_TIME) => {
  expect(problemsAt(changed(base, field, value))).toEqual([field]);
});

test.each<[field: string, value: string, base?: string]>([
  ["amount", "0.01"],
  ["amount", "1e1"],
  ["amount", "123456789012345678901234567890.12"],
  ["invoiceId", '""'],
  ["transactionType", '"PRE-AUTH"'],
  ["merchantCustomData", '"{\\"cart\\":1}"'],
  ["expirationDate", '"2025-01-31T12:00:00.001Z"'],
  ["expirationDate", '"2030-01-01T00:00:00Z"', REUSABLE],
  ["customerDetails.billingAddress", '{"address1":"a","addressLine1":"b","postalcode":"c","postalCode":"d"}'],
  ["customerDetails.billingAddress.country", '"GBR"'],
  ["paymentSettings.callbackUrl", '"https://shop.example/hook"'],
  ["paymentSettings.callbackUrl", '"http://127.0.0.1:4000/"'],
  ["linkOptions.minAmount", "5.00", REUSABLE],
  ["linkOptions.maxAmount", '"500"', REUSABLE],
  ["linkOptions", "{}", REUSABLE],
  ["unknown", '{"__proto__":[1.0]}'],
  ["paymentSettings.unknown", "1.50"],
])("%s may be %s, and is left as it is spelled", (field, value, base = ONE_TIME) => {
  const request = changed(base, field, value);
  const before = stringifyJson(request);
  expect(findings(request)).toEqual({ request, problems: [], warnings: [] });
  expect(stringifyJson(request)).toBe(before);
});

const bounded = (amount: string, options: string) =>
  changed(changed(REUSABLE, "amount", amount), "linkOptions", options);

describe("amount and bounds", () => {
  it.each([
    ["0", '{"mode":"REUSABLE_VARIABLE","minAmount":"5","maxAmount":10}', []],
    ["5.00", '{"mode":"REUSABLE_VARIABLE","minAmount":"5","maxAmount":10}', []],
    ["10", '{"mode":"REUSABLE_VARIABLE","minAmount":"5","maxAmount":10.00}', []],
    ["4.99", '{"mode":"REUSABLE_VARIABLE","minAmount":"5","maxAmount":10}', ["amount"]],
    ["10.01", '{"mode":"REUSABLE_VARIABLE","minAmount":"5","maxAmount":"10"}', ["amount"]],
    ["10.01", '{"mode":"REUSABLE_VARIABLE","maxAmount":10}', ["amount"]],
    ["0", '{"mode":"REUSABLE_VARIABLE","minAmount":"10","maxAmount":"9.99"}', ["linkOptions.minAmount"]],
    ["0", '{"mode":"REUSABLE_VARIABLE","minAmount":"x","maxAmount":"5"}', ["linkOptions.minAmount"]],
    [
      "0",
      '{"mode":"REUSABLE_VARIABLE","minAmount":9007199254740993,"maxAmount":9007199254740992}',
      ["linkOptions.minAmount"],
    ],
    ["99", '{"mode":"REUSABLE_FIXED","maxAmount":"10"}', []],
    ["99", '{"maxAmount":"10"}', []],
    ["0", '{"minAmount":"10","maxAmount":"9.99"}', []],
  ])("amount %s with %s", (amount, options, at) => {
    expect(problemsAt(bounded(amount, options))).toEqual(at);
  });

  it("names the bound in the decimals of its currency", () => {
    const { problems } = checkRequest(bounded("12", '{"mode":"REUSABLE_VARIABLE","maxAmount":"10"}'), NOW);
    expect(problems).toEqual([
      { at: "amount", message: "must not be more than the largest amount (EUR 10.00)" },
    ]);
  });
});

test.each<[field: string, value: string, warnings: string[], base?: string]>([
  ["currency", '"XYZ"', ["currency"]],
  ["amount", "0.00", ["amount"]],
  ["amount", "0", [], REUSABLE],
  ["paymentSettings", '{"callbackUrl":"http://shop.example/"}', ["paymentSettings.callbackUrl"]],
  ["paymentSettings", '{"failureCallbackUrl":"http://10.0.0.1/"}', ["paymentSettings.failureCallbackUrl"]],
  ["paymentSettings", '{"returnUrl":"http://shop.example/"}', []],
  [
    "linkOptions",
    '{"mode":"OTHER","minAmount":"1","maxAmount":2}',
    ["linkOptions.minAmount", "linkOptions.maxAmount"],
    REUSABLE,
  ],
  ["linkOptions", '{"minAmount":"1"}', ["linkOptions.minAmount"], REUSABLE],
  ["linkOptions", '{"mode":"REUSABLE_VARIABLE","paymentReferenceMode":"FIXED"}', [], REUSABLE],
  ["linkOptions", '{"mode":"REUSABLE_VARIABLE"}', ["amount"]],
  ["linkOptions", '{"maxAmount":"50"}', ["linkOptions.maxAmount", "amount"]],
  ["linkOptions", '{"mode":"REUSABLE_VARIABLE","maxAmount":"50"}', []],
  ["transactionType", '"REFUND"', ["transactionType"]],
  ["transactionType", '"sale"', ["transactionType"]],
  ["periodic", SUBSCRIPTION, ["amount"]],
  ["periodic", SUBSCRIPTION, ["periodic"], REUSABLE],
])("%s %s is warned of at %j", (field, value, warnings, base = ONE_TIME) => {
  const request = changed(base, field, value);
  expect(problemsAt(request)).toEqual([]);
  expect(warningsAt(request)).toEqual(warnings);
});

test.each([
  ["VERIFICATION", /^is EUR 10\.00, but nothing is charged: the service only verifies the card/],
  ["SALE", /^is EUR 10\.00, which the customer pays at once: a subscription usually starts with amount 0/],
])("a subscription with an amount says what happens to the amount: %s", (type, words) => {
  const request = changed(changed(ONE_TIME, "periodic", SUBSCRIPTION), "transactionType", `"${type}"`);
  expect(checkRequest(request, NOW).warnings()).toEqual([
    { at: "amount", message: expect.stringMatching(words) },
  ]);
});

test("a verification of 0 gives no warning", () => {
  expect(warningsAt(changed(changed(ONE_TIME, "amount", "0"), "transactionType", '"VERIFICATION"'))).toEqual(
    [],
  );
});

test("problems of shape and of rules are named together, and no warning repeats one", () => {
  const request = read(`{"amount":12.345,"currency":"EUR","customerName":"","periodic":{"periodicType":"x"},
    "expirationDate":"2020-01-01T00:00:00Z","linkOptions":{"mode":"REUSABLE_VARIABLE","paymentReferenceMode":3,
    "minAmount":"20","maxAmount":"15"}}`);
  const { problems, warnings } = checkRequest(request, NOW);
  expect(problems.map(({ at }) => at).toSorted()).toEqual([
    "amount",
    "amount",
    "customerName",
    "expirationDate",
    "linkOptions.minAmount",
    "linkOptions.paymentReferenceMode",
    "periodic.periodicType",
    "terminalId",
  ]);
  expect(warnings()).toEqual([]);
});

describe("fieldFromText", () => {
  it.each([
    ["amount", "10.50", "10.50"],
    ["amount", ".5", "0.5"],
    ["currency", "eur", '"EUR"'],
    ["expirationDate", "7d", '"2025-02-07T12:00:00Z"'],
    ["linkOptions.minAmount", "5.00", '"5.00"'],
    ["description", " as typed ", '" as typed "'],
    ["unknown", "x", '"x"'],
  ])("%s %j becomes %s", (field, text, json) => {
    const parsed = fieldFromText(field, text, NOW);
    expect(parsed.ok && stringifyJson(parsed.value)).toBe(json);
  });

  it.each([
    ["amount", "ten"],
    ["currency", "euro"],
    ["terminalId", ""],
    ["expirationDate", "soon"],
    ["linkOptions.maxAmount", "5,"],
    ["customerDetails.email", "ada"],
    ["paymentSettings.callbackUrl", "shop.example"],
    ["periodic.periodicType", "x"],
  ])("%s: %j is refused, as it is read or by the field's rule", (field, text) => {
    const parsed = fieldFromText(field, text, NOW);
    const problems = parsed.ok
      ? checkRequest(changed(REUSABLE, field, stringifyJson(parsed.value)), NOW).problems
      : [{ at: field, message: parsed.message }];
    expect(problems).toEqual([{ at: field, message: expect.stringMatching(/^must /) }]);
  });
});
