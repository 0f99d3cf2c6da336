/** What a target can take: places, attempts that hang, and pauses, at times that the test says. */
import { describe, expect, it } from "vitest";
import type { AttemptResult } from "../../src/receiver/attempt.ts";
import { type Room, TargetState } from "../../src/receiver/target-state.ts";

const answered = (status: number, retryAfter?: string): AttemptResult => ({
  kind: "answered",
  status,
  headers: retryAfter === undefined ? [] : [["Retry-After", retryAfter]],
  body: new Uint8Array(),
});
const TIMEOUT: AttemptResult = { kind: "noAnswer", why: "no answer", failure: "timeout", sent: true };
const RESET: AttemptResult = { kind: "noAnswer", why: "reset", failure: "closed", sent: true };
const REFUSED: AttemptResult = { kind: "notReached", why: "connection refused", failure: "refused" };
const ALL: Room = { limit: 8, fresh: "no matter" };

/** A target of eight places, whose retries wait for a minute or longer. */
function target() {
  const state = new TargetState(8, 60_000);
  /** Attempts that begin and end at these seconds. */
  const attempt = (event: string, result: AttemptResult, ends: number, begins = ends) => {
    const running = state.begin(event, begins * 1000);
    return state.end(running, result, ends * 1000, new Date(ends * 1000));
  };
  return { state, attempt, room: (seconds: number) => state.room(seconds * 1000) };
}

describe("a target", () => {
  it.each([
    ["one timeout", [["a", TIMEOUT]]],
    [
      "two events without an answer",
      [
        ["a", TIMEOUT],
        ["b", RESET],
      ],
    ],
    [
      "the same event again and again",
      [
        ["a", TIMEOUT],
        ["a", TIMEOUT],
        ["a", RESET],
        ["a", answered(503)],
      ],
    ],
    [
      "failures between which another is refused",
      [
        ["a", TIMEOUT],
        ["b", TIMEOUT],
        ["c", answered(400)],
        ["d", TIMEOUT],
      ],
    ],
    [
      "refusals",
      [
        ["a", answered(500)],
        ["b", answered(500)],
        ["c", answered(401)],
        ["d", answered(302)],
      ],
    ],
    ["one 503 without Retry-After", [["a", answered(503)]]],
    ["a Retry-After of another status", [["a", answered(500, "60")]]],
  ] as const)("is up after %s", (_, results) => {
    const { attempt, room } = target();
    for (const [event, result] of results) expect(attempt(event, result, 1)).toBeUndefined();
    expect(room(1)).toEqual(ALL);
  });

  it.each([
    ["a connection that is refused", [["a", REFUSED]], 5_000],
    [
      "three different events in a row",
      [
        ["a", TIMEOUT],
        ["b", answered(502)],
        ["a", RESET],
        ["c", answered(504)],
      ],
      5_000,
    ],
    ["a 429", [["a", answered(429)]], 5_000],
    ["a 429 that asks for longer", [["a", answered(429, "120")]], 120_000],
    ["a 503 with Retry-After", [["a", answered(503, "2")]], 2_000],
    ["a Retry-After of a day", [["a", answered(503, "86400")]], 600_000],
  ] as const)("pauses after %s", (_, results, pause) => {
    const { attempt, room } = target();
    const pauses = results.map(([event, result]) => attempt(event, result, 1));
    expect(pauses).toEqual([...results.slice(1).map(() => undefined), pause]);
    expect(room(1)).toBeUndefined();
  });

  it("gets one event in five seconds while it is down, however long an attempt hangs", () => {
    const { state, attempt, room } = target();
    attempt("a", REFUSED, 0);
    expect([room(4.9), room(5)]).toEqual([undefined, { limit: 1, fresh: "first" }]);
    const probe = state.begin("b", 5_000);
    expect([room(9.9), room(10)]).toEqual([undefined, { limit: 1, fresh: "first" }]);
    expect(state.end(probe, TIMEOUT, 13_000, new Date())).toBeUndefined();
    expect(room(13)).toEqual({ limit: 1, fresh: "first" });
    attempt("c", answered(500), 14);
    expect(room(14)).toEqual(ALL);
  });

  it("holds back, for as long as it asks, all but first attempts and what an operator retries", () => {
    const { attempt, room } = target();
    attempt("a", answered(503, "60"), 0);
    expect([room(4.9), room(5), room(59.9), room(60)]).toEqual([
      undefined,
      { limit: 1, fresh: "only" },
      { limit: 1, fresh: "only" },
      { limit: 1, fresh: "first" },
    ]);
    attempt("b", answered(429, "30"), 50);
    expect([room(54.9), room(55), room(80)]).toEqual([
      undefined,
      { limit: 1, fresh: "only" },
      { limit: 1, fresh: "first" },
    ]);
  });

  it("that comes and goes is reported once a minute", () => {
    const { attempt } = target();
    const pauses = [0, 10, 20, 61].map((second) => {
      const pause = attempt("a", REFUSED, second);
      attempt("b", answered(200), second + 1);
      return pause;
    });
    expect(pauses).toEqual([5_000, undefined, undefined, 5_000]);
  });

  it("gives away the place of an attempt that eight others have overtaken, up to sixteen times", () => {
    const { state, attempt, room } = target();
    for (let hanging = 1; hanging <= 20; hanging++) {
      state.begin(`hangs ${hanging}`, 0);
      expect(room(0)?.limit).toBe(7 - Math.max(0, hanging - 17));
      for (let other = 0; other < 8; other++) attempt(`other ${other}`, answered(200), 0);
      expect(room(0)?.limit).toBe(8 - Math.max(0, hanging - 16));
    }
  });

  it("that is only slow keeps to its places", () => {
    const { state, room } = target();
    let running = Array.from({ length: 8 }, (_, index) => state.begin(String(index), 0));
    for (let round = 1; round < 10; round++) {
      // The last ones to begin are answered first.
      for (const one of running.toReversed()) state.end(one, answered(200), round * 3_000, new Date());
      running = Array.from({ length: 8 }, (_, index) => state.begin(`${round} ${index}`, round * 3_000));
      expect(room(round * 3)).toBeUndefined();
    }
  });
});
