/** One page of links: its records, and what counts as a page. */
import { describe, expect, it } from "vitest";
import { apiAt } from "../support/api.ts";
import { failure } from "../support/failure.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const QUERY = { terminalId: "7", from: new Date(0), to: new Date(0) };

describe("a page of links", () => {
  it("has its records as received", async () => {
    const server = await rawServer(reply(200, '{"totalCount":41,"records":[{"id":"L1","amount":10.50}]}'));
    expect(JSON.stringify(await apiAt(server.url).api.listLinks(QUERY))).toContain("10.50");
  });

  it.each(["", '{"totalCount":0}', '{"totalCount":0,"records":null}', '{"records":null}'])(
    "may have nothing in place of its records: %s",
    async (body) => {
      const server = await rawServer(reply(body === "" ? 204 : 200, body));
      expect(await apiAt(server.url).api.listLinks(QUERY)).toEqual([]);
    },
  );

  it.each([
    ["a page for people", "<html><title>Shop</title></html>", 'an HTML page with the title "Shop"'],
    ["JSON of another kind", '{"links":[]}', '{"links":[]}'],
    ["an array", "[]", "without a list of links: []"],
    ["nothing, but for 204", "", "without a list of links"],
  ])("is not %s", async (_, body, words) => {
    const server = await rawServer(reply(200, body));
    const error = await failure(apiAt(server.url).api.listLinks(QUERY));
    expect(error).toMatchObject({ code: "not_reached", details: { status: 200 } });
    expect(error.message).toContain(words);
  });
});
