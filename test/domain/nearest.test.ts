/** What somebody who mistyped a name is told: the one they meant, or none at all. */
import { expect, it } from "vitest";
import { nearest } from "../../src/domain/nearest.ts";

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
])("takes %s for %s", (typed, meant) => {
  expect(nearest(typed, COMMANDS)).toBe(meant);
});

it.each(["bogus", "delete", "refund", "shell", "x", "", "paylink"])("takes %j for none of them", (typed) => {
  expect(nearest(typed, COMMANDS)).toBeUndefined();
});

it("takes the nearest of several, and of equals the first", () => {
  expect(nearest("--min-amout", ["--amount", "--max-amount", "--min-amount"])).toBe("--min-amount");
  expect(nearest("lst", ["last", "lost", "list"])).toBe("last");
});
