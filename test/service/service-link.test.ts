/** One link by its id: the requests for it, the link in the reply, and what a refusal says of it. */
import { describe, expect, it } from "vitest";
import { apiAt } from "../support/api.ts";
import { adviceOf, failure } from "../support/failure.ts";
import { ANSWER } from "../support/link-request.ts";
import { MAINTENANCE, rawServer, reply } from "../support/raw-server.ts";

/** What every operation may answer, a cancellation too. */
const CANCELLED = ANSWER.replace('"active"', '"cancelled"').replace(
  "2030-01-31T12:00:00Z",
  "2026-12-01T10:00:00Z",
);

type Api = ReturnType<typeof apiAt>["api"];

const CHANGES = { description: "Order 1", expirationDate: "2026-12-01T10:00:00Z" };
const OPERATIONS: readonly [name: string, run: (api: Api) => Promise<unknown>, line: string, body: string][] =
  [
    ["details", (api) => api.showLink("L1"), "GET /v1/payment-links/L1", ""],
    ["update", (api) => api.updateLink("L1", CHANGES), "PATCH /v1/payment-links/L1", JSON.stringify(CHANGES)],
    ["cancel", (api) => api.cancelLink("L1"), "POST /v1/payment-links/L1/cancel", ""],
  ];

describe.each(OPERATIONS)("%s", (_, run, line, body) => {
  it("is requested as documented, and answered with the link", async () => {
    const server = await rawServer(reply(200, CANCELLED));
    expect(await run(apiAt(server.url).api)).toMatchObject({
      text: CANCELLED,
      link: { id: "L1" },
      violations: [],
    });
    const [head = "", sent] = server.requests[0]?.split("\r\n\r\n") ?? [];
    expect(head.startsWith(`${line} HTTP/1.1\r\n`)).toBe(true);
    expect(head).toContain("Content-Type: application/json");
    expect(sent).toBe(body);
  });

  it("names the link that the service does not have", async () => {
    const server = await rawServer(reply(404, '{"code":275,"message":"Invalid payment link ID"}'));
    const error = await failure(run(apiAt(server.url).api));
    expect(error).toMatchObject({ code: "refused", details: { status: 404, code: "275", link: "L1" } });
    expect(adviceOf(error)).toContain("has no link L1");
  });

  it("says that the reply is about another link", async () => {
    const server = await rawServer(reply(200, CANCELLED.replaceAll("L1", "L2")));
    expect(await failure(run(apiAt(server.url).api))).toMatchObject({
      code: line.startsWith("GET") ? "not_reached" : "outcome_unknown",
      details: { link: "L1", answered: "L2" },
    });
  });

  it("is sent again after a 503, which has no effect", async () => {
    let calls = 0;
    const server = await rawServer((socket) =>
      (++calls === 1 ? reply(503, MAINTENANCE) : reply(200, CANCELLED))(socket),
    );
    expect(await run(apiAt(server.url).api)).toMatchObject({ link: { id: "L1" } });
    expect(server.requests).toHaveLength(2);
  });
});

describe("a change of a link", () => {
  it.each([
    ["update", (api: Api) => api.updateLink("L1", CHANGES), "changed"],
    ["cancel", (api: Api) => api.cancelLink("L1"), "cancelled"],
  ] as const)("is not sent again once it may have arrived: %s", async (_, run, done) => {
    for (const answer of [reply(500, "oops"), reply(200, "<h1>Welcome</h1>"), reply(200, "[]")]) {
      const server = await rawServer(answer);
      const error = await failure(run(apiAt(server.url).api));
      expect(error).toMatchObject({ code: "outcome_unknown", exit: 6 });
      expect(adviceOf(error)).toBe(`The link may be ${done}. To see it: paylink links show L1`);
      // It may be read again.
      expect(server.requests.filter((request) => !request.startsWith("GET "))).toHaveLength(1);
    }
  });

  it.each([400, 401, 403, 404, 409, 422, 302, 429])(
    "is reported to have no effect after a %i",
    async (status) => {
      const server = await rawServer(reply(status, "{}"));
      const { api } = apiAt(server.url);
      expect(adviceOf(await failure(api.updateLink("L1", CHANGES)))).toMatch(/^Nothing was changed\./);
      expect(adviceOf(await failure(api.cancelLink("L1")))).toMatch(/^Nothing was cancelled\./);
    },
  );

  it("is reported as not done if the service was not reached", async () => {
    const error = await failure(apiAt("http://127.0.0.1:1").api.cancelLink("L1"));
    expect(error).toMatchObject({ code: "not_reached", exit: 5 });
    expect(adviceOf(error)).toBe("Nothing was cancelled. It is safe to run the command again.");
  });

  it("is refused by a reply that reports an error with 200", async () => {
    const server = await rawServer(reply(200, '{"code":30,"message":"The payment link is paid"}'));
    const error = await failure(apiAt(server.url).api.cancelLink("L1"));
    expect(error).toMatchObject({ code: "refused", exit: 4 });
    expect(error.message).toContain("The payment link is paid");
  });
});

describe("an update that the service accepted", () => {
  const answered = (members: object) => reply(200, JSON.stringify({ ...JSON.parse(ANSWER), ...members }));

  it.each([
    ["the old expiry", {}, /it expires at 2030-01-31T12:00:00Z, not at 2026-12-01T10:00:00Z\./],
    ["the old description", { ...CHANGES, description: "Order 0" }, /its description is "Order 0"\./],
  ])("is not done if the answer has %s", async (_, members, words) => {
    const server = await rawServer(answered(members));
    const error = await failure(apiAt(server.url).api.updateLink("L1", CHANGES));
    expect([error.code, error.exit]).toEqual(["outcome_unknown", 6]);
    expect(error.message).toMatch(words);
    expect(adviceOf(error)).toContain("paylink links show L1");
  });

  it.each([
    ["the same time in another form", { ...CHANGES, expirationDate: "2026-12-01T11:00:00.250+01:00" }],
    ["no date that can be read", { expirationDate: "1.12.2026" }],
  ])("is done if the answer has %s", async (_, members) => {
    const server = await rawServer(answered(members));
    expect((await apiAt(server.url).api.updateLink("L1", CHANGES)).link.id).toBe("L1");
  });
});

describe("an answer without a link", () => {
  it("is of unknown outcome if the link cannot be read then", async () => {
    const server = await rawServer((socket, count) =>
      (count === 1 ? reply(204, "") : reply(404, "{}"))(socket),
    );
    const error = await failure(apiAt(server.url).api.updateLink("L1", CHANGES));
    expect(error).toMatchObject({ code: "outcome_unknown", exit: 6 });
    expect(error.message).toContain("answered 204 without the link, and reading it failed");
  });

  it.each(["active", "viewed", "ATTEMPTED", "paid"])(
    "is not a successful cancellation: %s",
    async (status) => {
      const server = await rawServer(reply(200, ANSWER.replace('"active"', `"${status}"`)));
      const error = await failure(apiAt(server.url).api.cancelLink("L1"));
      expect(error).toMatchObject({ code: "outcome_unknown", exit: 6 });
      expect(error.message).toContain(`the link is ${status.toLowerCase()}, not cancelled`);
    },
  );
});

describe("a change of the description alone", () => {
  it("sends the link's own expiry, as the service spells it", async () => {
    const server = await rawServer(reply(200, ANSWER));
    await apiAt(server.url).api.updateLink("L1", { description: "Order 1" });
    expect(server.requests.map((request) => request.split("\r\n\r\n")[1])).toEqual([
      "",
      '{"expirationDate":"2030-01-31T12:00:00Z","description":"Order 1"}',
    ]);
  });

  it("sends nothing if the link cannot be read", async () => {
    const server = await rawServer(reply(404, '{"code":275,"message":"Invalid payment link ID"}'));
    const error = await failure(apiAt(server.url).api.updateLink("L1", { description: "Order 1" }));
    expect(error).toMatchObject({ code: "refused", exit: 4, effect: "update" });
    expect(server.requests).toHaveLength(1);
  });
});

describe("the details of a link", () => {
  it.each([
    ["a page for people", "<html><title>Shop</title></html>", 'an HTML page with the title "Shop"'],
    ["a list", "[]", "without a link"],
    ["nothing", "", "an empty body"],
  ])("are not %s", async (_, body, words) => {
    const server = await rawServer(reply(200, body));
    const error = await failure(apiAt(server.url).api.showLink("L1"));
    expect(error).toMatchObject({ code: "not_reached", details: { status: 200, link: "L1" } });
    expect(error.message).toContain(words);
  });
});
