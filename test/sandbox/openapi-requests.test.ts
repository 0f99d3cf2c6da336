/** The sandbox accepts the requests that its OpenAPI document allows, and refuses the others. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "../../src/sandbox/openapi/document.ts";
import { checksOf, component, operationsOf, parseOpenApi } from "../support/openapi.ts";
import { linkId, oneTime, openTestSandbox } from "../support/sandbox.ts";

const DOCUMENT = parseOpenApi(openApiDocument());
const LINKS = "/v1/payment-links";

/** One of the values, or the member left out. */
const member = (...values: readonly unknown[]) => fc.option(fc.constantFrom(...values), { nil: undefined });

const TEXT = ["Coffee", "", 5, null];
const ADDRESS = ["https://shop.example/paid", "http://127.0.0.1:4000/", "shop.example", "ftp://a.example", 1];
const EXPIRY = [
  "2026-02-07T12:00:00Z",
  "2026-02-07T12:00:00.123+00:00",
  "2026-02-07T12:00:00+02:00",
  "2026-02-07",
  "2026-02-30T12:00:00Z",
  "tomorrow",
  5,
];

/** Without values that break a rule between fields: a schema cannot say those. Undefined leaves the field out. */
const VALUES = {
  amount: [0, 10, 10.5, -1, "10", null, undefined],
  currency: ["EUR", "eur", "EURO", "E1R", 978, undefined],
  invoiceId: TEXT,
  terminalId: ["", 5, undefined],
  customerName: ["Ada Lovelace", " ", "", 5, null, undefined],
  expirationDate: [...EXPIRY, undefined],
  description: TEXT,
  transactionType: ["SALE", "PRE-AUTH", "", 1],
  merchantCustomData: TEXT,
  periodic: [
    { periodicType: "ucof", sequenceType: "initial" },
    { periodicType: "x" },
    { sequenceType: 1 },
    {},
    "ucof",
    [],
  ],
  paymentSettings: [
    ...ADDRESS.flatMap((url) => [{ returnUrl: url }, { failureCallbackUrl: url }]),
    {},
    "https://shop.example",
  ],
  customerDetails: [
    { email: "ada@shop.example" },
    { email: "ada" },
    { billingAddress: { city: "London" } },
    { billingAddress: { city: 1 } },
    { billingAddress: "London" },
  ],
  linkOptions: [
    {},
    { mode: "REUSABLE_VARIABLE", minAmount: 5, maxAmount: "100.00" },
    { minAmount: "-5" },
    { minAmount: -5 },
    { maxAmount: "1,000" },
    { maxAmount: true },
    { mode: "" },
    "REUSABLE_VARIABLE",
    null,
  ],
  extra: [1],
};

const FIELDS = fc.array(
  fc
    .constantFrom(
      ...Object.entries(VALUES).map(([name, values]) =>
        fc.tuple(fc.constant(name), fc.constantFrom<unknown>(...values)),
      ),
    )
    .chain((field) => field),
  { maxLength: 3 },
);

const VALID_REQUEST = {
  amount: 10,
  currency: "EUR",
  customerName: "Ada Lovelace",
  expirationDate: "2026-02-07T12:00:00Z",
};

const UPDATES = fc.record(
  { description: member(...TEXT), expirationDate: member(...EXPIRY), amount: member(1) },
  { requiredKeys: [] },
);

/** As JSON transmits it, without members that are undefined. */
const asSent = (value: object): object => JSON.parse(JSON.stringify(value)) as object;

describe("the sandbox accepts what the document allows and nothing else", () => {
  const checks = checksOf(DOCUMENT);

  it("as a request for a link", async () => {
    const service = openTestSandbox();
    const valid = { terminalId: service.identity.terminalId, ...VALID_REQUEST };
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(FIELDS, async (changes) => {
        const request = asSent({ ...valid, ...Object.fromEntries(changes) });
        const { status } = await service.create(request);
        expect(status).toBe(checks.isValid(component("PaymentLinkRequest"), request) ? 200 : 400);
        statuses.add(status);
      }),
      { numRuns: 200 },
    );
    expect(statuses).toEqual(new Set([200, 400]));
  });

  it("as an update", async () => {
    const service = openTestSandbox();
    const id = await linkId(service, oneTime());
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(UPDATES, async (changes) => {
        const update = asSent(changes);
        const { status } = await service.call("PATCH", `${LINKS}/${id}`, update);
        expect(status).toBe(checks.isValid(component("PaymentLinkUpdate"), update) ? 200 : 400);
        statuses.add(status);
      }),
      { numRuns: 100, examples: [[{ expirationDate: VALID_REQUEST.expirationDate }]] },
    );
    expect(statuses).toEqual(new Set([200, 400]));
  });

  it.each([
    ["terminalId", undefined],
    ["from", undefined],
    ["from", "yesterday"],
    ["to", undefined],
    ["to", "2026-02-30T00:00:00Z"],
    ["to", "2026-06-01T02:00:00+02:00"],
    ["page", undefined],
    ["page", 7],
    ["page", 0],
    ["page", 1.5],
    ["size", 0],
    ["size", 1],
    ["size", 5000],
    ["size", 5001],
    ["size", -1],
    ["status", "paid"],
    ["status", "open"],
  ])("as the query of a list, with %s %s", async (name, value) => {
    const service = openTestSandbox();
    const valid = {
      terminalId: service.identity.terminalId,
      from: "2026-01-01T00:00:00Z",
      to: "2027-01-01T00:00:00Z",
      page: 1,
    };
    const query = asSent({ ...valid, [name]: value });
    const text = Object.entries(query).map(([key, given]): [string, string] => [key, String(given)]);
    const answer = await service.call("GET", `${LINKS}?${new URLSearchParams(text).toString()}`);
    const { parameters = [] } = operationsOf(DOCUMENT).find(
      ({ operationId }) => operationId === "listPaymentLinks",
    ) ?? { parameters: [] };
    expect(parameters.length).toBe(6);
    const allowed = parameters.every(({ name: parameter = "", required, schema = {} }) => {
      const given = Object.entries(query).find(([key]) => key === parameter);
      return given === undefined ? !required : checks.isValid(schema, given[1]);
    });
    expect(answer.status).toBe(allowed ? 200 : 400);
    if (!allowed)
      expect(answer.json()["errors"]).toEqual([expect.objectContaining({ pointer: `#/${name}` })]);
  });
});
