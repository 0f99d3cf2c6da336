/** One page of links: the request for it, and what counts as a page. */
import { describe, expect, it } from "vitest";
import { apiAt } from "../support/api.ts";
import { failure } from "../support/failure.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const QUERY = {
  terminalId: "7",
  from: new Date("2026-11-14T10:00:00.123Z"),
  to: new Date("2026-11-21T10:00:00Z"),
};

describe("a page of links", () => {
  it("is requested as documented, and its records are kept as received", async () => {
    const server = await rawServer(reply(200, '{"totalCount":41,"records":[{"id":"L1","amount":10.50}]}'));
    const page = await apiAt(server.url).api.listLinks({ ...QUERY, status: "paid", page: 2, size: 20 });
    const [line = ""] = server.requests[0]?.split("\r\n") ?? [];
    const target = new URL(line.split(" ")[1] ?? "", server.url);
    expect(line).toMatch(/^GET \/v1\/payment-links\?/);
    expect(Object.fromEntries(target.searchParams)).toEqual({
      terminalId: "7",
      from: "2026-11-14T10:00:00Z",
      to: "2026-11-21T10:00:00Z",
      status: "paid",
      page: "2",
      size: "20",
    });
    expect(JSON.stringify(page)).toContain("10.50");
  });

  it.each(["", '{"totalCount":0}', '{"totalCount":0,"records":null}', '{"records":null}'])(
    "may have nothing for its records: %s",
    async (body) => {
      const server = await rawServer(reply(body === "" ? 204 : 200, body));
      expect(await apiAt(server.url).api.listLinks(QUERY)).toEqual([]);
    },
  );

  it.each([
    ["a page for people", "<html><title>Shop</title></html>", 'an HTML page with the title "Shop"'],
    ["JSON of another kind", '{"links":[]}', '{"links":[]}'],
    ["an array", "[]", "without a list of links: []"],
  ])("is not %s", async (_, body, words) => {
    const server = await rawServer(reply(200, body));
    const error = await failure(apiAt(server.url).api.listLinks(QUERY));
    expect(error).toMatchObject({ code: "not_reached", details: { status: 200 } });
    expect(error.message).toContain(words);
  });
});
