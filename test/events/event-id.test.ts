/** Ids of events: unique, however many arrive in one millisecond, and sorted by arrival. */
import { describe, expect, it } from "vitest";
import { createEventIds } from "../../src/events/event-id.ts";

const MANY = 10_000;
const AT = Date.parse("2026-11-21T10:00:00Z");

/** Ids of a process for which chance drew `first`, at the moments that the test says. */
function idsFrom(first: number, moment: (index: number) => number = () => AT): string[] {
  let index = 0;
  const ids = createEventIds({
    now: () => new Date(moment(index++)),
    newId: () => `${first.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`,
  });
  return Array.from({ length: MANY }, ids);
}

describe("event ids", () => {
  it.each([
    ["many arrive within one millisecond", 0, () => AT],
    ["they arrive over many", 0, (index: number) => AT + (index >> 3)],
    ["the clock is set back", 0xffffffff, (index: number) => AT - (index % 3)],
    ["their numbers begin anew", 36 ** 6 - 3, () => AT],
  ])("differ, are of one length, and sort in the order of arrival where they can: %s", (_, first, moment) => {
    const ids = idsFrom(first, moment);
    expect(new Set(ids).size).toBe(MANY);
    expect(new Set(ids.map((id) => id.length))).toEqual(new Set([14]));
    if (first === 0) expect(ids.toSorted()).toEqual(ids);
  });

  it("begin at a random point, so that two processes with one store use different ids", () => {
    expect(new Set([...idsFrom(0), ...idsFrom(0x7fffffff)]).size).toBe(2 * MANY);
  });
});
