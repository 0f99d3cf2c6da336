/** The suggestion for a mistyped name: the nearest one, or none. */
import { expect, it } from "vitest";
import { nearest } from "../../src/values/parse-result.ts";

const COMMANDS = [
  "create",
  "bulk",
  "listen",
  "events",
  "verify",
  "login",
  "logout",
  "status",
  "config",
  "pay",
  "help",
];

it.each([
  ["creat", "create"],
  ["craete", "create"],
  ["lisen", "listen"],
  ["CREATE", "create"],
  ["pya", "pay"],
  ["stat", "status"],
  ["conf", "config"],
  ["logut", "logout"],
])("suggests for %s the name %s", (typed, meant) => {
  expect(nearest(typed, COMMANDS)).toBe(meant);
});

it.each(["bogus", "delete", "refund", "shell", "x", "", "paylink"])("suggests nothing for %j", (typed) => {
  expect(nearest(typed, COMMANDS)).toBeUndefined();
});

it("suggests the nearest of several, and the first of equals", () => {
  expect(nearest("--min-amout", ["--amount", "--max-amount", "--min-amount"])).toBe("--min-amount");
  expect(nearest("lst", ["last", "lost", "list"])).toBe("last");
});
