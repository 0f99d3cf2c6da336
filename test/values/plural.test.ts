/** Numbers of things in words, and the first of them by name. */
import { expect, it } from "vitest";
import { linesText, plural, someOf } from "../../src/values/plural.ts";

it("agrees with the number", () => {
  expect([plural(1, "event"), plural(1234, "event"), plural(0, "link was", "links were")]).toEqual([
    "1 event",
    "1,234 events",
    "0 links were",
  ]);
});

it("names the first, and counts the others", () => {
  expect([someOf(["A-1"], 1), someOf(["A-1", "A-2"], 1236)]).toEqual(["A-1", "A-1, A-2 and 1,234 more"]);
  expect([linesText([3]), linesText([2, 3]), linesText([2, 3, 4], 5), linesText([2], 2)]).toEqual([
    "line 3",
    "lines 2, 3",
    "lines 2, 3, 4 and 2 more",
    "lines 2 and 1 more",
  ]);
});
