/** Records in words: long values go on below, and tables line up. */
import type { TransactionRecord, Violation } from "../../src/domain/transaction.ts";
import { Chalk } from "chalk";
import { describe, expect, it } from "vitest";
import { JsonNumber } from "../../src/values/json.ts";
import { sampleRecord } from "../../src/sender/sample-record.ts";
import { cardFor } from "../../src/sender/test-cards.ts";
import type { Warning } from "../../src/domain/reasons.ts";
import { TRANSACTION_FIELDS } from "../../src/domain/transaction-fields.ts";
import { renderRecord } from "../../src/render/transaction-record.ts";
import { formatLocal, renderTable } from "../../src/render/layout.ts";
import { renderCard, renderCompactWebhook, renderWebhook } from "../../src/render/received-webhook.ts";

const paint = new Chalk({ level: 0 });

it("wraps a long value instead of leaving any of it out", () => {
  const uti = "0123456789".repeat(12);
  const shown = renderRecord({ uti }, [], { paint, width: 80 });
  const lines = shown.split("\n").filter((line) => /\d{10}/.test(line));
  expect(lines.length).toBeGreaterThan(1);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines.map((line) => line.replace("uti", "").trim()).join("")).toBe(uti);
});

const APPROVED = sampleRecord(
  {
    card: cardFor("approved"),
    transType: "SALE",
    amount: new JsonNumber("10.00"),
    currency: "EUR",
    reference: "INV-1",
    terminalId: "1234567890",
    merchant: { merchantId: "000000000012345", merchantName: "Café Paylink", merchantStoreId: 42 },
    softwareVersion: "1.0.0",
    number: "000417",
  },
  { newId: () => "8e2f6a4c-5b7d-4d0e-9a51-2f6c1f0b7a11", now: new Date("2026-01-31T12:00:00Z") },
);
const contentOf = (record: TransactionRecord | null, violations: readonly Violation[] = []) => ({
  record,
  violations,
  isWhole: true,
});
const RECEIVED: Parameters<typeof renderWebhook>[0] = {
  id: "mi9w2k0a0000zz",
  receivedAt: new Date("2026-01-31T12:00:01Z"),
  repeated: false,
  verdict: { verdict: "valid", warnings: ["method_not_covered", "created_missing"] },
  content: contentOf(APPROVED),
  request: { target: "/hooks/paid?key=secret" },
};
/** With every field too long or invalid. */
const LONG = {
  ...RECEIVED,
  content: contentOf(
    { ...APPROVED, reference: "R".repeat(200) },
    TRANSACTION_FIELDS.map(({ name }) => ({
      code: "body_schema",
      path: name,
      message: "must be absent from a cancelled payment, and is far too long for a single line",
    })),
  ),
};

const style = { paint, width: 80 };
/** The value shown for a field. */
const valueOf = (shown: string, name: string): string | undefined =>
  new RegExp(`^    ${name} +(.*)$`, "m").exec(shown)?.[1];

it.each([
  ["10.00", "EUR 10.00"],
  ["-1e1", "EUR -10.00"],
  ["0x10", '"0x10"'],
  ["ten", '"ten"'],
])("shows the amount %j, which is text, as %s in every form", (text, shown) => {
  const record = { ...APPROVED, amountTrans: text, amountGratuity: text };
  const [first = "", ...lines] = renderRecord(record, [], { paint, width: 80 }).split("\n");
  expect(first).toBe(`APPROVED  ${shown}`);
  for (const name of ["amountTrans", "amountGratuity"]) expect(valueOf(lines.join("\n"), name)).toBe(shown);
  expect(renderCompactWebhook({ ...RECEIVED, content: contentOf(record) }, style)).toContain(
    `APPROVED   ${shown}  INV-1`,
  );
});

describe("a record", () => {
  it("shows all 37 fields, and a dash for each that is empty or absent", () => {
    const { responseCode: _, ...declined } = { ...APPROVED, transApproved: false, emvCryptogram: "" };
    for (const record of [APPROVED, declined, {}]) {
      const shown = renderRecord(record, [], { paint, width: 80 });
      for (const { name } of TRANSACTION_FIELDS) expect(valueOf(shown, name)).toMatch(/\S/);
    }
    const shown = renderRecord(declined, [], { paint, width: 80 });
    expect(valueOf(shown, "emvCryptogram")).toBe("–");
    expect(valueOf(shown, "responseCode")).toBe("–");
    expect(valueOf(shown, "transCancelled")).toBe("false");
    const reusable = renderRecord({ ...APPROVED, reference: "INV-1-ABCDEFGHI" }, [], style);
    expect(valueOf(reusable, "reference")).toMatch(/\(base INV-1, suffix ABCDEFGHI\)$/);
  });

  it.each([
    ["00", "00  approved"],
    ["05", "05  do not honour"],
    ["51", "51  insufficient funds"],
    ["54", "54  expired card"],
    ["91", "91  issuer not available"],
    ["5", "5"],
    ["Z9", "Z9"],
    ["constructor", "constructor"],
  ])("says what response code %s means, if that is known", (responseCode, expected) => {
    expect(valueOf(renderRecord({ ...APPROVED, responseCode }, [], style), "responseCode")).toBe(expected);
  });

  it("of a body without a record has no fields", () => {
    const violations = [{ code: "body_not_json", path: "", message: "is not JSON" }] as const;
    expect(renderRecord(null, violations, style)).toBe("UNCLEAR\n  ! the body is not JSON");
  });

  it.each([60, 80, 120])("fits %i columns", (width) => {
    const lines = renderWebhook(LONG, { paint, width }).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  });
});

describe("a received webhook", () => {
  it("begins with the outcome, then date, path and id, and never shows the query", () => {
    const [first, second] = renderWebhook(RECEIVED, style).split("\n");
    expect(first).toBe("APPROVED  EUR 10.00");
    expect(second).toBe(
      `  received ${formatLocal(RECEIVED.receivedAt)} at /hooks/paid, event mi9w2k0a0000zz`,
    );
  });

  it("has its own warnings, and not those that hold for every webhook of the service", () => {
    const warnings: Warning[] = [...RECEIVED.verdict.warnings, "multiple_signatures"];
    const event = { ...RECEIVED, verdict: { verdict: "invalid" as const, warnings } };
    const shown = renderWebhook(event, style);
    expect(shown).toContain("UNVERIFIED");
    expect(shown).toContain("! there are several signatures; only the selected one was checked");
    expect(shown).not.toMatch(/not signed|creation time/);
  });

  it.each([60, 80, 120])("is a card of at most eight lines and %i columns", (width) => {
    for (const event of [RECEIVED, LONG, { ...LONG, repeated: true, content: contentOf(null) }]) {
      const lines = renderCard(event, { paint, width }).split("\n");
      expect(lines.length).toBeLessThanOrEqual(8);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    }
    expect(renderCard(LONG, { paint, width })).toMatch(/\n {2}! \d+ more: --full shows them$/);
  });

  it.each([40, 60, 80])("shows a warning whole, broken between words, at %i columns", (width) => {
    const event = { ...RECEIVED, verdict: { ...RECEIVED.verdict, warnings: ["order_paid_before" as const] } };
    const card = renderCard(event, { paint, width });
    expect(card.replace(/\n {4}/g, " ")).toContain(
      "  ! another payment of this order was approved before: the order may be paid twice",
    );
  });

  it("shows in its card what people look for, and nothing that holds for every webhook", () => {
    const lines = renderCard({ ...RECEIVED, repeated: true }, style).split("\n");
    expect(lines.slice(0, 2)).toEqual([
      "APPROVED  EUR 10.00  INV-1  repeated",
      "  VISA ************1111  00 approved",
    ]);
    expect(lines.slice(2).join(" ")).toMatch(
      new RegExp(
        `^ {2}20\\d\\d-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d [+-]\\d\\d:\\d\\d {2}/hooks/paid\\s+${APPROVED.uti}$`,
      ),
    );
  });

  it("is one line of 80 columns with --compact", () => {
    const record = { ...APPROVED, reference: "R".repeat(50) };
    const shown = renderCompactWebhook({ ...RECEIVED, content: contentOf(record) }, style, "10:15:30");
    expect(shown).toMatch(/^10:15:30 {2}APPROVED {3}EUR 10\.00 {2}R+… {2}/);
    expect(shown.endsWith(APPROVED.uti)).toBe(true);
    expect(shown.length).toBeLessThanOrEqual(80);
    const log = renderCompactWebhook({ ...RECEIVED, repeated: true }, { paint, width: Infinity });
    expect(log).toBe(`repeated  APPROVED   EUR 10.00  INV-1  ${APPROVED.uti}`);
  });
});

it("lines columns up, numbers to the right", () => {
  const rows = [
    [{ text: "a" }, { text: "1", right: true }, { text: "x" }],
    [{ text: "bcd" }, { text: "100", right: true }, { text: "" }],
  ];
  expect(renderTable(rows)).toBe("a      1  x\nbcd  100");
});
