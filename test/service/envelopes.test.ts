/** What a service may wrap, spell or report otherwise: links, pages and records in an envelope, and errors with 200. */
import { describe, expect, it } from "vitest";
import { apiAt } from "../support/api.ts";
import { adviceOf, failure } from "../support/failure.ts";
import { ANSWER, REQUEST } from "../support/link-request.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const URL = "https://pay.example/checkout?r=L1";
const apiOf = async (status: number, body: string, headers?: Record<string, string>) =>
  apiAt((await rawServer(reply(status, body, headers))).url).api;

describe("a link in an envelope", () => {
  it.each([
    `{"code":0,"data":${ANSWER}}`,
    `{"id":"req-1","status":"ok","result":${ANSWER}}`,
    `{"meta":{"id":"req-1"},"link":${ANSWER},"errors":[]}`,
  ])("is found by itself in every operation: %s", async (body) => {
    const api = await apiOf(200, body);
    const created = await api.createLink(REQUEST);
    expect(created).toMatchObject({ text: body, link: { id: "L1", url: URL }, violations: [] });
    expect(await api.showLink("L1")).toMatchObject({ text: body, link: { id: "L1" }, violations: [] });
    const cancelled = await apiOf(200, body.replace('"active"', '"cancelled"'));
    expect(await cancelled.cancelLink("L1")).toMatchObject({ link: { status: "cancelled" } });
  });

  it("is not guessed if there are two, and the answer is shown", async () => {
    const body = `{"old":${ANSWER},"new":${ANSWER}}`;
    const created = await failure((await apiOf(200, body)).createLink(REQUEST));
    expect(created).toMatchObject({
      code: "outcome_unknown",
      exit: 6,
      message: "The service answered 200 with more than one link.",
      details: { body },
    });
    const shown = await failure((await apiOf(200, body)).showLink("L1"));
    expect(shown.code).toBe("not_reached");
    expect(shown.message).toContain(`with more than one link: {"old":`);
  });
});

describe("a reply of 200 with an error inside", () => {
  it.each([
    ['{"error":"terminal unknown"}', "terminal unknown", undefined],
    ['{"code":275,"message":"terminal unknown"}', "terminal unknown", "275"],
    ['{"error":"invalid_terminal","error_description":"terminal unknown"}', "unknown", "invalid_terminal"],
  ])("is refused: %s", async (body, words, code) => {
    const error = await failure((await apiOf(200, body)).createLink(REQUEST));
    expect([error.code, error.exit]).toEqual(["refused", 4]);
    expect(error.message).toContain(words);
    expect(error.details["code"]).toBe(code);
    expect(adviceOf(error)).toContain("Nothing was created.");
  });

  it("is a link if it holds one, whatever else it says", async () => {
    const body = ANSWER.replace('"extra":1.0e2', '"error":null,"errors":[],"code":0,"message":"created"');
    expect((await (await apiOf(200, body)).createLink(REQUEST)).link.url).toBe(URL);
  });
});

describe("a link of other types", () => {
  it("keeps its amount and dates as received, with a warning for each", async () => {
    const body = `{"id":"L1","url":"${URL}","amount":"10.00","createdDate":1769860800,
      "expirationDate":"2030-01-31 12:00:00","viewedDate":null,"currency":"EUR"}`;
    const { link, violations } = await (await apiOf(200, body)).createLink(REQUEST);
    expect(String(link.amount)).toBe("10.00");
    expect(String(link.createdDate)).toBe("1769860800");
    expect(link.expirationDate).toBe("2030-01-31 12:00:00");
    const at = violations.map((violation) => violation.at);
    for (const name of ["amount", "createdDate", "expirationDate"]) expect(at).toContain(name);
  });

  it.each(["application/vnd.pay.v1+json", "application/hal+json; charset=utf-8"])(
    "needs no warning for the media type %s",
    async (type) => {
      const api = await apiOf(200, ANSWER, { "Content-Type": type });
      expect((await api.createLink(REQUEST)).violations).toEqual([]);
    },
  );
});

describe("a transaction", () => {
  const record = '{"uti":"u-1","amountTrans":10.00}';
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

  it("is read at a whole URL, with the token", async () => {
    const server = await rawServer(reply(200, record));
    const transactionUrl = `${server.url}/Transaction/{uti}?copy={uti}`;
    const body = await apiAt("https://api.invalid", { transactionUrl }).api.readTransaction("u/1");
    expect(text(body)).toBe(record);
    expect(server.requests[0]).toMatch(/^GET \/Transaction\/u%2F1\?copy=u%2F1 HTTP/);
    expect(server.requests[0]).toContain("Authorization: Bearer secret-token-1");
  });

  it("is not read without https", async () => {
    const transactionUrl = "http://service.example/{uti}";
    const error = await failure(apiAt("https://api.invalid", { transactionUrl }).api.readTransaction("u"));
    expect([error.code, error.exit]).toEqual(["usage", 2]);
  });

  it("is read from its envelope with every digit", async () => {
    expect(text(await (await apiOf(200, `{"data":${record}}`)).readTransaction("u-1"))).toBe(record);
  });

  it.each([
    ["{}", "not_reached", "without a transaction record: {}"],
    [`{"a":${record},"b":${record}}`, "outcome_unknown", "with 2 transaction records"],
    ["<html><title>Shop</title></html>", "not_reached", 'an HTML page with the title "Shop"'],
    ['{"code":"E7","message":"no access"}', "refused", "answered 200: no access (code E7)"],
  ])("is not %s", async (body, code, words) => {
    const error = await failure((await apiOf(200, body)).readTransaction("u-1"));
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
  });
});
