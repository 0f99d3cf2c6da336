/** Whether nothing forwards what waits: what `listen` says at its start, and the inspector of its queue. */
import { expect, it } from "vitest";
import { isUnclaimed } from "../../src/events/event.ts";

const NOW = new Date("2026-11-01T12:00:00Z");
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1000);

it.each([
  ["something due for two minutes, and no attempt ever", 120_000, undefined, true],
  ["something due for two minutes, and no attempt since", 120_000, ago(300), true],
  ["something due for two minutes while others are attempted", 120_000, ago(2), false],
  ["what is due for a moment", 5_000, undefined, false],
  ["nothing that is due", 0, null, false],
])("%s", (_, overdue, lastAttempt, expected) => {
  expect(isUnclaimed(overdue, lastAttempt, NOW)).toBe(expected);
});
