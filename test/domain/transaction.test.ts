/** Transaction records: read from any bytes without throwing, with every broken rule of the table by its field. */

import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { JsonNumber, type JsonObject, stringifyJson } from "../../src/values/json.ts";
import { TRANSACTION_FIELDS, type WellFormedRecord } from "../../src/domain/transaction-fields.ts";
import { minorUnitsOf } from "../../src/domain/money.ts";
import { amountIn, judgeOutcome, outcomeOf, readRecord } from "../../src/domain/transaction.ts";

const APPROVED: WellFormedRecord = {
  uti: "8e2f6a4c-5b7d-4d0e-9a51-2f6c1f0b7a11",
  transType: "SALE",
  transApproved: true,
  transPartiallyApproved: false,
  transCancelled: false,
  amountTrans: new JsonNumber("25.50"),
  amountGratuity: new JsonNumber("0"),
  amountCashback: new JsonNumber("0"),
  cvmSignatureRequired: false,
  cvmPinVerified: false,
  transCurrencyCode: "GBP",
  terminalId: "1234567890",
  merchantId: "000000000012345",
  softwareVersion: "1.12.0",
  receiptNumber: "000417",
  retrievalReferenceNumber: "331700000417",
  paymentId: "9c6b7d5e",
  responseCode: "00",
  stan: "000417",
  authorisationCode: "A1B2C3",
  merchantTokenId: "tok_5f4d",
  cardPan: "************1111",
  cardStartDate: "2201",
  cardScheme: "VISA",
  cardPanSequenceNumber: "01",
  cardType: "EMV",
  emvAid: "A0000000031010",
  emvTsi: "E800",
  emvTvr: "0000008000",
  emvCryptogram: "",
  emvCryptogramType: "ARQC",
  reference: "INV-2023-000417-a1B2c3D4e",
  merchantName: "Café Paylink",
  transDateTime: "2023-11-14T22:13:18.000Z",
  createdDateTime: "2023-11-14T22:13:19.123Z",
  merchantStoreId: new JsonNumber("42"),
  status: "Complete",
};

function without(record: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

const DECLINED = without({ ...APPROVED, transApproved: false }, "authorisationCode");
const CANCELLED = without(
  { ...DECLINED, transCancelled: true },
  "paymentId",
  "responseCode",
  "merchantTokenId",
  "emvCryptogramType",
);

const bytesOf = (text: string) => new TextEncoder().encode(text);
const readJson = (record: JsonObject) => readRecord(bytesOf(stringifyJson(record)));
const pathsOf = (record: JsonObject) => readJson(record).violations.map(({ path }) => path);

test("the table holds the 37 fields of the specification, in its order", () => {
  expect(TRANSACTION_FIELDS.map(({ name }) => name)).toEqual(Object.keys(APPROVED));
  expect(TRANSACTION_FIELDS).toHaveLength(37);
});

test.each([
  ["APPROVED", APPROVED],
  ["DECLINED", DECLINED],
  ["CANCELLED", CANCELLED],
])("accepts a record that keeps the rules: %s", (outcome, sent) => {
  const { record, violations } = readJson(sent);
  expect(violations).toEqual([]);
  expect(record).toEqual(sent);
  expect(record && outcomeOf(record)).toBe(outcome);
});

describe("a member that is given twice", () => {
  const twice = (text: string, added: string) => readRecord(bytesOf(`${text.slice(0, -1)},${added}}`));
  const text = stringifyJson(APPROVED);

  it.each([
    ['"transApproved":true', "transApproved"],
    ['"transPartiallyApproved":false', "transPartiallyApproved"],
    ['"transCancelled":false', "transCancelled"],
    ['"status":"Complete"', "status"],
    ['"amountTrans":25.50', "amountTrans"],
    ['"transCurrencyCode":"GBP"', "transCurrencyCode"],
    [String.raw`"trans\u0041pproved":true`, "transApproved"],
  ])("makes the outcome unclear as %s, whatever its values", (added, name) => {
    const { record, violations } = twice(text, added);
    expect(judgeOutcome(record)).toEqual({ outcome: "UNCLEAR", reason: `${name} is given twice` });
    expect(violations).toMatchObject([{ code: "body_duplicate_member", path: name }]);
  });

  it("counts inside an envelope, and so does a repeated envelope", () => {
    const wrapped = twice(`{"data":${text.slice(0, -1)},"transApproved":true}}`, '"x":1');
    expect(judgeOutcome(wrapped.record)).toMatchObject({ reason: "data.transApproved is given twice" });
    const envelopes = twice(`{"data":${text}}`, `"data":${text}`);
    expect(judgeOutcome(envelopes.record)).toMatchObject({ reason: "data is given twice" });
  });

  it.each(['"merchantName":"x"', '"extra":{"status":1,"status":2}'])(
    "does not change the outcome as %s",
    (added) => {
      const { record, violations } = twice(text, added);
      expect(judgeOutcome(record)).toEqual({ outcome: "APPROVED" });
      expect(violations).toHaveLength(1);
    },
  );
});

it("reads no number of more than 40 characters as an amount", () => {
  for (const digits of ["9".repeat(41), `1.${"0".repeat(100_000)}`]) {
    const { record, violations } = readJson({ ...APPROVED, amountTrans: new JsonNumber(digits) });
    expect(violations).toEqual([
      { code: "body_schema", path: "amountTrans", message: "must have at most 40 characters" },
    ]);
    expect(record && amountIn(record, "amountTrans")).toBeUndefined();
    expect(minorUnitsOf(digits, "EUR")).toBeUndefined();
  }
});

test.each([
  ["DECLINED", DECLINED, ["authorisationCode"]],
  [
    "CANCELLED",
    CANCELLED,
    ["paymentId", "responseCode", "authorisationCode", "merchantTokenId", "emvCryptogramType"],
  ],
])("%s must not hold a value that is forbidden there", (_, record, barred) => {
  for (const name of barred) {
    for (const value of ["x", null]) {
      expect(readJson({ ...record, [name]: value }).violations).toEqual([
        { code: "body_schema", path: name, message: expect.stringContaining("must be absent") },
      ]);
    }
  }
});

test.each(["paymentId", "responseCode", "merchantTokenId", "emvCryptogramType"])(
  "a decline has its %s",
  (name) => {
    expect(pathsOf(without(DECLINED, name))).toEqual([name]);
  },
);

test.each<[string, string | JsonNumber]>([
  ["status", "Pending"],
  ["status", "complete"],
  ["transDateTime", "2023-11-14T22:13:18"],
  ["transDateTime", "2023-11-14T22:13:18+01:00"],
  ["createdDateTime", "2023-02-29T22:13:18Z"],
  ["createdDateTime", ""],
  ["amountTrans", new JsonNumber("1e400")],
  ["merchantStoreId", new JsonNumber("-1e400")],
  ["transCurrencyCode", "GBPX"],
  ["transCurrencyCode", "826"],
])("%s must not be %s", (name, value) => expect(pathsOf({ ...APPROVED, [name]: value })).toEqual([name]));

test("a negative amount, any store number and a date with an offset of zero are no violations", () => {
  const unusual = {
    amountTrans: new JsonNumber("-10.50"),
    amountCashback: new JsonNumber("-0.0e5"),
    merchantStoreId: new JsonNumber("-1.5"),
  };
  expect(pathsOf({ ...APPROVED, ...unusual, transDateTime: "2023-11-14T22:13:18+00:00" })).toEqual([]);
});

describe("a card number that is not masked", () => {
  it.each<[unknown, string, string]>([
    ["4111111111111111", "************1111", "must be text, with the card number masked"],
    ["4111 1111 1111 1112", "**** **** **** 1112", "must be text, with the card number masked"],
    [new JsonNumber("4111111111111111"), "************1111", "must be text, with the card number masked"],
  ])("is a violation, and the record has it masked: %j", (cardPan, masked, message) => {
    const { record, violations } = readRecord(bytesOf(stringifyJson({ ...APPROVED, cardPan })));
    expect(violations).toEqual([{ code: "body_schema", path: "cardPan", message }]);
    expect(record).toEqual({ ...APPROVED, cardPan: masked });
  });

  it("is masked in a field that the specification lacks, which is not a violation", () => {
    const { record, violations, isWhole } = readJson({
      ...APPROVED,
      card: { number: "5555 5555 5555 4444" },
    });
    expect(violations).toEqual([]);
    expect(record).toMatchObject({ card: { number: "**** **** **** 4444" } });
    expect(isWhole).toBe(false);
  });

  it("is not looked for in any other member", () => {
    const ids = {
      reference: "4111111111111111",
      merchantId: "4111111111111111",
      orderId: "5555555555554444",
    };
    const { record, violations, isWhole } = readJson({ ...APPROVED, ...ids });
    expect({ violations, isWhole }).toEqual({ violations: [], isWhole: true });
    expect(record).toMatchObject(ids);
  });
});

test("unknown fields are kept, numbers as they are spelled", () => {
  const { record, violations } = readJson({ ...APPROVED, loyalty: { points: new JsonNumber("1.00") } });
  expect(violations).toEqual([]);
  expect(stringifyJson(record)).toContain('"amountTrans":25.50,');
  expect(stringifyJson(record)).toContain('"loyalty":{"points":1.00}');
});

describe("a body", () => {
  it.each([
    ["hello", "body_not_json"],
    ["", "body_not_json"],
    ["[]", "body_schema"],
    ["null", "body_schema"],
    ["1.0", "body_schema"],
    ["[".repeat(100_000), "body_not_json"],
    ["[".repeat(1000) + "]".repeat(1000), "body_not_json"],
  ])("%.20s holds no record", (text, code) => {
    const { record, violations } = readRecord(bytesOf(text));
    expect(record).toBeNull();
    expect(violations).toEqual([{ code, path: "", message: expect.any(String) }]);
  });

  it.each([[[0xff]], [[0x22, 0xc3, 0x22]], [[0x22, 0xed, 0xa0, 0x80, 0x22]]])("%j is not UTF-8", (bytes) => {
    expect(readRecord(Uint8Array.from(bytes))).toEqual({
      record: null,
      isWhole: false,
      violations: [{ code: "body_invalid_utf8", path: "", message: "must be UTF-8" }],
    });
  });

  it("that is broken JSON names line and column", () => {
    expect(readRecord(bytesOf('{\n  "uti": "1",\n}')).violations).toEqual([
      { code: "body_not_json", path: "", message: 'is not JSON: unexpected "}" at line 3, column 1' },
    ]);
  });

  it("with a byte order mark is a record and a violation", () => {
    const { record, violations } = readRecord(bytesOf(`\uFEFF${stringifyJson(APPROVED)}`));
    expect(record).toEqual(APPROVED);
    expect(violations.map(({ code }) => code)).toEqual(["body_not_json"]);
  });
});

describe("any bytes at all", () => {
  it("never make the reader throw", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.json().map(bytesOf),
      fc.tuple(fc.nat(1200), fc.nat(255)).map(([at, byte]) => {
        const body = bytesOf(stringifyJson(APPROVED));
        body[at % body.length] = byte;
        return body;
      }),
    );
    fc.assert(
      fc.property(bytes, (bytes) => {
        const { record, violations } = readRecord(bytes);
        expect(record !== null || violations.length > 0).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it("give a violation for every field removed, nulled or retyped, and for no other", () => {
    const change = fc.constantFrom("removed", "nulled", "retyped");
    // The two flags decide what else is due, so they have tests of their own.
    const names = Object.keys(APPROVED).filter(
      (name) => name !== "transApproved" && name !== "transCancelled",
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), change), (changes) => {
        const record: JsonObject = { ...APPROVED };
        for (const [name, how] of Object.entries(changes)) {
          if (how === "removed") delete record[name];
          else record[name] = how === "nulled" ? null : [];
        }
        expect(pathsOf(record).toSorted()).toEqual(Object.keys(changes).toSorted());
      }),
    );
  });
});
