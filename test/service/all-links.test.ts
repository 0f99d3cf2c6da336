/** Lists of links that come page by page, of services that page oddly. */
import { describe, expect, it } from "vitest";
import { allLinks } from "../../src/service/all-links.ts";

const PERIOD = { terminalId: "1", from: new Date(0), to: new Date(1) };

/** The ids of all links at a service whose pages these are. */
async function idsAt(pageOf: (page: number) => readonly { readonly id: string }[]): Promise<string[]> {
  const ids: string[] = [];
  const listLinks = async ({ page = 1 }) => pageOf(page);
  for await (const link of allLinks(listLinks, PERIOD)) ids.push((link as { id: string }).id);
  return ids;
}

describe("a list of links", () => {
  it.each([
    ["the same page again and again", () => [{ id: "a" }, { id: "b" }]],
    [
      "links that move to the next page meanwhile",
      (page: number) => [["a", "b"], ["b", "c"], []][page - 1] ?? [],
    ],
  ])("ends with the first page that has no other link: %s", async (_, pageOf) => {
    const ids = await idsAt((page) =>
      pageOf(page).map((one) => (typeof one === "string" ? { id: one } : one)),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.slice(0, 2)).toEqual(["a", "b"]);
  });
});
