/** The period in which the service is asked for links: wherever the clock of this machine is, it holds those that were made. */
import { describe, expect, it } from "vitest";
import { askService, type Wanted } from "../../src/bulk/link-states.ts";
import type { Api } from "../../src/service/client.ts";

const DAY = 86_400_000;
const TRUE_TIME = Date.UTC(2026, 5, 15);

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
    const asked: Parameters<Api["listLinks"]>[0][] = [];
    const api: Pick<Api, "listLinks"> = {
      listLinks: (query) => {
        asked.push(query);
        return Promise.resolve([]);
      },
    };
    const at = sent + then * DAY;
    const wanted: Wanted = {
      terminals: new Set(["1"]),
      ids: new Set(),
      orderNumbers: new Set(["A-1"]),
      since: at,
      until: at,
    };
    await askService(() => Promise.resolve(api), wanted, new Date(TRUE_TIME + now * DAY));
    expect(asked[0]?.from.getTime()).toBeLessThan(sent);
    expect(asked[0]?.to.getTime()).toBeGreaterThan(sent);
  });
});
