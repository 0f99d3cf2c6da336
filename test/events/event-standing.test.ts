/** What became of an event, by its delivery and its attempts, and the words for it. */
import { expect, it } from "vitest";
import { type EventFate, eventStanding } from "../../src/events/event-standing.ts";
import { standingLabel, standingWords } from "../../src/events/event-standing-words.ts";
import type { StoredAttempt, StoredDelivery } from "../../src/events/history.ts";

const DUE = new Date("2026-11-28T12:00:00Z");
const delivery = (parts: Partial<StoredDelivery>): StoredDelivery => ({
  state: "pending",
  attempts: 0,
  isTrying: false,
  next: null,
  comesAgain: false,
  ...parts,
});
const attempt = (status: number | null, detail = "", isReplay = false): StoredAttempt => ({
  at: DUE,
  target: "http://127.0.0.1/",
  status,
  failure: status === null ? "refused" : null,
  ms: 2,
  detail,
  reply: null,
  isReplay,
});

const ACCEPTED = "Your application accepted it: 200 in 2 ms.";
const REFUSED = "Your application refused it: 500 nope.";

it.each<[EventFate, StoredDelivery | null, StoredAttempt[], string, string]>([
  ["received", null, [], "not forwarded", "It is not forwarded: start listen with --forward-to."],
  ["received", null, [attempt(500, "nope", true)], "not forwarded", REFUSED],
  ["pending", delivery({}), [], "pending", "It waits to be forwarded."],
  [
    "pending",
    delivery({ attempts: 1, next: DUE }),
    [attempt(500, "nope")],
    "pending, 1 attempt, next at noon",
    `${REFUSED} Attempt 2 at noon`,
  ],
  [
    "trying",
    delivery({ attempts: 1, isTrying: true }),
    [attempt(500, "nope")],
    "being forwarded now",
    "It is being forwarded now.",
  ],
  ["delivered", delivery({ state: "delivered", attempts: 1 }), [attempt(200)], "delivered", ACCEPTED],
  [
    "refused",
    delivery({ state: "failed", attempts: 1, comesAgain: true }),
    [attempt(500, "nope")],
    "refused; the service sends it again",
    `${REFUSED} The service was told, and will send it again.`,
  ],
  [
    "failed",
    delivery({ state: "failed", attempts: 2 }),
    [attempt(500, "nope"), attempt(null, "connection refused")],
    "failed after 2 attempts",
    "Your application did not answer. It is not sent again by itself.",
  ],
  [
    "skipped",
    delivery({ state: "skipped", attempts: 1 }),
    [attempt(500, "nope")],
    "skipped",
    "It was skipped, and will not be forwarded.",
  ],
])("an event is %s", (fate, stored, attempts, label, sentences) => {
  const standing = eventStanding(stored, attempts);
  expect(standing.fate).toBe(fate);
  expect(standingLabel(standing, () => "at noon")).toBe(label);
  const { did, next, at } = standingWords(standing);
  expect([did, next, at && "at noon"].filter(Boolean).join(" ")).toBe(sentences);
});

it.each([
  [
    "delivered, whatever a later replay was answered",
    "delivered",
    [attempt(200), attempt(500, "", true)],
    "good",
  ],
  [
    "failed, though another application took a replay",
    "failed",
    [attempt(500), attempt(200, "", true)],
    "bad",
  ],
] as const)("an event stays %s", (_, state, attempts, kind) => {
  expect(standingWords(eventStanding(delivery({ state, attempts: 1 }), attempts)).kind).toBe(kind);
});
