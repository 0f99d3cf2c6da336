/** The period in which the service is asked for links: wherever the clock of this machine is, it holds those that were made. */
import { describe, expect, it } from "vitest";
import { askService, firstAsked } from "../../src/bulk/service-links.ts";
import type { Api } from "../../src/service/client.ts";
import type { Attempt } from "../../src/store/sent-rows.ts";

const DAY = 86_400_000;
const TRUE_TIME = Date.UTC(2026, 5, 15);

const ATTEMPT: Attempt = {
  source: "memory",
  key: "",
  occurrence: 1,
  attempt: 1,
  state: "unknown",
  sentAt: 0,
  payment: "",
  content: "",
  orderNumber: "A-1",
  status: undefined,
  id: null,
  url: null,
  error: null,
};

/** The period that is asked for, in a run at this time. */
async function periodOf(known: readonly Attempt[], now: Date, lookBack: number) {
  const asked: Parameters<Api["listLinks"]>[0][] = [];
  const listLinks: Api["listLinks"] = (query) => {
    asked.push(query);
    return Promise.resolve([]);
  };
  const wanted = {
    terminals: new Set(["1"]),
    ids: new Set<string>(),
    keyOf: () => undefined,
    since: firstAsked({ known, lookBack, now }),
    until: known[0]?.sentAt ?? 0,
  };
  await askService(() => Promise.resolve({ listLinks }), wanted, now);
  return { from: asked[0]?.from.getTime() ?? 0, to: asked[0]?.to.getTime() ?? 0 };
}

describe("the period in which the service is asked", () => {
  it.each<[string, number, number]>([
    ["right", 0, 0],
    ["two months behind", -60, -60],
    ["two months ahead", 60, 60],
    ["ahead when the rows were sent", 60, 0],
    ["behind when the rows were sent", -60, 0],
    ["behind now", 0, -60],
    ["ahead now", 0, 60],
  ])("covers the time when a link was created, with a clock that is %s", async (_, then, now) => {
    const sent = TRUE_TIME - 3 * DAY;
    const known = { ...ATTEMPT, sentAt: sent + then * DAY };
    for (const lookBack of [0, 90 * DAY]) {
      const { from, to } = await periodOf([known], new Date(TRUE_TIME + now * DAY), lookBack);
      expect(from).toBeLessThan(sent);
      expect(to).toBeGreaterThan(sent);
    }
  });

  it.each([0, -60, 60])(
    "covers a link of another machine, with a clock that is %d days ahead",
    async (ahead) => {
      const { from, to } = await periodOf([], new Date(TRUE_TIME + ahead * DAY), 90 * DAY);
      for (const age of [0, 29]) {
        expect(from).toBeLessThan(TRUE_TIME - age * DAY);
        expect(to).toBeGreaterThan(TRUE_TIME - age * DAY);
      }
    },
  );
});
