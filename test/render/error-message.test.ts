/** Failures in words: how many problems there are to fix, and no instruction if the user cannot fix them. */
import { describe, expect, it } from "vitest";
import { PaylinkError } from "../../src/domain/errors.ts";
import { renderError } from "../../src/render/error-message.ts";
import { NO_PAINT } from "../../src/render/paint.ts";

const text = { json: false, warnings: [], unwritten: [], notePaint: NO_PAINT };
const amount = { at: "--amount", message: "is required" };
const currency = { at: "--currency", message: "must be a three-letter currency code" };

describe("a failure", () => {
  it.each([
    [[amount], "✗ Nothing was sent. Fix 1 problem:\n  --amount  is required"],
    [
      [amount, currency],
      "✗ Nothing was sent. Fix 2 problems:\n  --amount    is required\n  --currency  must be a three-letter currency code",
    ],
    [[], "✗ Nothing was sent."],
  ])("of usage counts the problems to fix: %j", (problems, shown) => {
    expect(renderError(new PaylinkError("usage", "Nothing was sent.", { problems }), text)).toBe(shown);
  });

  it("of the service lists its problems without asking for a fix", () => {
    const error = new PaylinkError("refused", "The service answered 400: invalid.", { problems: [amount] });
    expect(renderError(error, text)).toMatch(
      /^✗ The service answered 400: invalid\.\n {2}--amount {2}is required\n/,
    );
  });

  it("masks card numbers in JSON", () => {
    const error = new PaylinkError("refused", "The service answered 400: card 4111111111111111.", {
      details: { body: "4111111111111111", count: 4111111111111111 },
    });
    expect(JSON.parse(renderError(error, { ...text, json: true }))).toMatchObject({
      error: {
        message: "The service answered 400: card ************1111.",
        details: { body: "************1111", count: 4111111111111111 },
      },
    });
  });

  it("keeps the message and the problems apart in JSON", () => {
    const error = new PaylinkError("usage", "Nothing was sent.", { problems: [amount] });
    expect(JSON.parse(renderError(error, { ...text, json: true }))).toEqual({
      error: { code: "usage", message: "Nothing was sent.", details: { problems: [amount] } },
    });
  });
});
