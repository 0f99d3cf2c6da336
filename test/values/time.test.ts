/** Durations and points in time: strict texts, calendar years, and words for how far off one is. */

import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, test, vi } from "vitest";
import {
  addDuration,
  duration,
  formatDuration,
  formatRelative,
  isUtcDateTime,
  parseDuration,
  parseInstant,
  parseExpiry,
  parseUntil,
  parseWhen,
  UNITS,
} from "../../src/values/time.ts";

const NOW = new Date("2025-01-31T12:00:00Z");

describe("formatDuration", () => {
  test.each([
    [30_000, "30s"],
    [90_000, "90s"],
    [900_000, "15m"],
    [7_200_000, "2h"],
    [604_800_000, "7d"],
    [1_500, "1500ms"],
    [0, "0ms"],
  ])("writes %i ms as %s", (milliseconds, text) => expect(formatDuration(milliseconds)).toBe(text));

  it("reads back as the same duration", () => {
    fc.assert(
      fc.property(fc.nat(10 ** 12), (milliseconds) => {
        const parsed = parseDuration(formatDuration(milliseconds));
        expect(parsed.ok && parsed.value.milliseconds).toBe(milliseconds);
      }),
    );
  });
});

describe("parseDuration", () => {
  test.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["45m", 2_700_000],
    ["36h", 129_600_000],
    ["7d", 604_800_000],
    ["2w", 1_209_600_000],
    ["3y", 94_608_000_000],
    ["0s", 0],
  ])("%s is %i ms", (text, milliseconds) => {
    const parsed = parseDuration(text);
    expect(parsed.ok && parsed.value.milliseconds).toBe(milliseconds);
  });

  test.each([
    "",
    "7",
    "d",
    "7 d",
    "-7d",
    "+7d",
    "1.5h",
    "7D",
    "1h30m",
    "7days",
    "1mo",
    "7constructor",
    "9".repeat(400) + "d",
  ])("refuses %j", (text) => expect(parseDuration(text).ok).toBe(false));

  it("reads what formatDuration writes", () => {
    const unit = fc.constantFrom("ms", "s", "m", "h", "d", "w", "y") satisfies fc.Arbitrary<
      keyof typeof UNITS
    >;
    fc.assert(
      fc.property(fc.nat(100_000), unit, (count, unit) => {
        expect(parseDuration(`${count}${unit}`)).toEqual({ ok: true, value: duration(count, unit) });
      }),
    );
  });
});

test.each([
  ["2024-01-31T10:00:00.000Z", 3, 1, "2027-01-31T10:00:00.000Z"],
  ["2024-02-29T10:00:00.000Z", 1, 1, "2025-02-28T10:00:00.000Z"],
  ["2024-02-29T10:00:00.000Z", 4, 1, "2028-02-29T10:00:00.000Z"],
  ["2024-02-29T10:00:00.000Z", 1, -1, "2023-02-28T10:00:00.000Z"],
] as const)("%s and %i calendar years (%i) is %s", (date, years, direction, result) => {
  expect(addDuration(new Date(date), duration(years, "y"), direction).toISOString()).toBe(result);
});

describe("a date-time in another form of ISO 8601", () => {
  it.each([
    ["2026-12-24T18:00:00+0100", "2026-12-24T17:00:00.000Z"],
    ["2026-12-24T18:00:00-0530", "2026-12-24T23:30:00.000Z"],
    ["2026-12-24T18:00:00+01", "2026-12-24T17:00:00.000Z"],
    ["2026-12-24T18:00+01", "2026-12-24T17:00:00.000Z"],
    ["2026-12-24T18:00:00.5+0100", "2026-12-24T17:00:00.500Z"],
    ["2026-12-24T18:00:00,5Z", "2026-12-24T18:00:00.500Z"],
    ["20261224T180000Z", "2026-12-24T18:00:00.000Z"],
    ["20261224T1800Z", "2026-12-24T18:00:00.000Z"],
    ["20261224T180000+0100", "2026-12-24T17:00:00.000Z"],
    ["20261224T180000.25+01:00", "2026-12-24T17:00:00.250Z"],
  ])("%s is read as %s, and is a violation in an answer", (text, instant) => {
    expect(parseInstant(text)?.toISOString()).toBe(instant);
    if (!text.includes("-12-24T") || !text.endsWith("Z")) expect(isUtcDateTime(text)).toBe(false);
  });
});

describe("ISO 8601", () => {
  test.each([
    "2025-01-31T10:00:00Z",
    "2025-01-31T10:00Z",
    "2025-01-31T10:00:00.1234567Z",
    "2024-02-29T23:59:59.999+00:00",
    "2000-02-29T00:00:00Z",
  ])("%s is a date-time in UTC", (text) => {
    expect(isUtcDateTime(text)).toBe(true);
    expect(parseInstant(text)?.getTime()).toBe(Date.parse(text));
  });

  test.each([
    "2025-01-31",
    "2025-01-31T10:00:00",
    "2025-01-31 10:00:00Z",
    "2025-02-29T10:00:00Z",
    "1900-02-29T10:00:00Z",
    "2025-04-31T10:00:00Z",
    "2025-13-01T10:00:00Z",
    "2025-00-01T10:00:00Z",
    "2025-01-00T10:00:00Z",
    "2025-01-31T24:00:00Z",
    "2025-01-31T10:60:00Z",
    "2025-01-31T10:00:60Z",
    "2025-01-31T10:00:00.Z",
    "2025-01-31t10:00:00z",
    "20250230T100000Z",
    "20250131T100060Z",
    "2025-0131T100000Z",
    "2025-01-31T10:00:00+1",
    "2025-01-31T10:00:00+010",
    "20250131T100000",
    "2025-01-31T10:00:00-00:00x",
    "",
  ])("%j is not", (text) => {
    expect(isUtcDateTime(text)).toBe(false);
    expect(parseInstant(text)).toBeUndefined();
  });

  it("tells an instant from one in UTC", () => {
    expect(isUtcDateTime("2025-01-31T10:00:00+02:00")).toBe(false);
    expect(parseInstant("2025-01-31T10:00:00+02:00")?.toISOString()).toBe("2025-01-31T08:00:00.000Z");
  });

  it("reads every date that the platform writes", () => {
    const date = fc.date({
      min: new Date(0),
      max: new Date("9999-12-31T23:59:59.999Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(date, (date) => {
        expect(isUtcDateTime(date.toISOString())).toBe(true);
        expect(parseInstant(date.toISOString())).toEqual(date);
      }),
    );
  });
});

describe("parseWhen", () => {
  test.each([
    ["2025-12-31T10:00:00+01:00", 1, "2025-12-31T09:00:00.000Z"],
    ["2025-12-31", 1, new Date(2025, 11, 31).toISOString()],
    ["2025-12-31", -1, new Date(2025, 11, 31).toISOString()],
    ["45m", 1, "2025-01-31T12:45:00.000Z"],
    ["3y", 1, "2028-01-31T12:00:00.000Z"],
    [" 7d ", 1, "2025-02-07T12:00:00.000Z"],
    ["7d", -1, "2025-01-24T12:00:00.000Z"],
  ] as const)("reads %j (%i) as %s", (text, direction, instant) => {
    expect(parseWhen(text, NOW, direction)).toEqual({ ok: true, value: new Date(instant) });
  });

  test.each([
    [
      "tomorrow",
      "must be a date (2025-01-31), an ISO 8601 date-time with a zone (2025-01-31T12:00:00Z) or a duration",
    ],
    ["2025-02-30", "or a duration"],
    ["2025-12-31T10:00", "must name its time zone, such as 2025-12-31T10:00Z"],
    ["8000y", "must be within the years 0000 to 9999"],
    ["99999999d", "must be within the years 0000 to 9999"],
  ])("refuses %j", (text, message) => {
    const parsed = parseWhen(text, NOW);
    expect(parsed.ok ? "" : parsed.message).toContain(message);
  });

  it("never throws, and gives only dates that ISO 8601 can write", () => {
    const text = fc.oneof(
      fc.string(),
      fc.stringMatching(/^\d{1,20}(ms|s|m|h|d|w|y)$/),
      fc.stringMatching(/^\d{4}-\d\d-\d\d(T\d\d:\d\dZ)?$/),
    );
    fc.assert(
      fc.property(text, fc.constantFrom<1 | -1>(1, -1), (text, direction) => {
        const parsed = parseWhen(text, NOW, direction);
        expect(!parsed.ok || isUtcDateTime(parsed.value.toISOString())).toBe(true);
      }),
    );
  });
});

it("parseUntil includes the whole day of a date", () => {
  expect(parseUntil("2025-12-31", NOW)).toEqual({ ok: true, value: new Date(2026, 0, 1) });
  expect(parseUntil("2h", NOW)).toEqual({ ok: true, value: new Date("2025-01-31T10:00:00Z") });
});

describe("parseExpiry", () => {
  test.each([
    ["2026-12-31", new Date(2026, 11, 31, 23, 59, 59)],
    [" 2028-02-29 ", new Date(2028, 1, 29, 23, 59, 59)],
    ["2025-12-31T10:00:00+01:00", new Date("2025-12-31T09:00:00Z")],
    ["7d", new Date("2025-02-07T12:00:00Z")],
  ])("reads %j: a date alone is the end of that day, local time", (text, date) => {
    expect(parseExpiry(text, NOW)).toEqual({ ok: true, value: date });
  });

  it.each([
    ["America/Santiago", "2027-04-03", "2027-04-04T03:59:59.000Z"],
    ["Asia/Beirut", "2027-10-30", "2027-10-30T21:59:59.000Z"],
    ["America/Santiago", "2027-09-04", "2027-09-05T03:59:59.000Z"],
    ["Europe/Berlin", "2027-03-28", "2027-03-28T21:59:59.000Z"],
  ])("is the last second of a day in which clocks change: %s, %s", (zone, day, end) => {
    vi.stubEnv("TZ", zone);
    onTestFinished(() => void vi.unstubAllEnvs());
    const parsed = parseExpiry(day, NOW);
    expect(parsed.ok && parsed.value.toISOString()).toBe(end);
  });

  test.each(["2026-02-30", "2026-13-01", "2026-12-31T10:00", "31.12.2026", "12/31/2026"])(
    "refuses %j",
    (text) => {
      expect(parseExpiry(text, NOW).ok).toBe(false);
    },
  );

  it("gives only dates that ISO 8601 can write", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^(0000|9999|\d{4})-(01|12|\d\d)-(01|31|\d\d)$/), (text) => {
        const parsed = parseExpiry(text, NOW);
        expect(!parsed.ok || isUtcDateTime(parsed.value.toISOString())).toBe(true);
      }),
    );
  });
});

test.each([
  [0, "now"],
  [400, "now"],
  [1000, "in 1 second"],
  [-1000, "1 second ago"],
  [90_000, "in 90 seconds"],
  [-5_400_000, "90 minutes ago"],
  [36 * UNITS.h, "in 36 hours"],
  [7 * UNITS.d, "in 7 days"],
  [7 * UNITS.d - 200, "in 7 days"],
  [-3 * UNITS.h, "3 hours ago"],
  [400 * UNITS.d, "in 400 days"],
  [1096 * UNITS.d, "in 3 years"],
])("%i ms off is %j", (distance, words) => {
  expect(formatRelative(new Date(NOW.getTime() + distance), NOW)).toBe(words);
});
