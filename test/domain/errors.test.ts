/** The closed table of failures: every message is a complete sentence. */
import { expect, it } from "vitest";
import { FAILURES, PaylinkError, type FailureCode } from "../../src/domain/errors.ts";

const CODES = Object.keys(FAILURES) as FailureCode[];

it.each(CODES)("%s ends its message with a full stop, whatever its last words are", (code) => {
  const messageOf = (text: string): string => new PaylinkError(code, text).message;
  expect(messageOf("The service answered 500: out of order")).toBe("The service answered 500: out of order.");
  expect(messageOf("The service answered 500: out of order.")).toBe(
    "The service answered 500: out of order.",
  );
  expect(messageOf("There is no setting named a. Did you mean b?")).toMatch(/b\?$/);
  expect(messageOf("Error: x\n    at y (z.ts:1:2)")).toBe("Error: x\n    at y (z.ts:1:2)");
});
