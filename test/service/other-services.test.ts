/** Services that differ from the specification in one point: each succeeds by a setting, or fails with a message that names it. */
import { describe, expect, it } from "vitest";
import { REQUEST, ANSWER } from "../support/link-request.ts";
import { apiAt } from "../support/api.ts";
import { adviceOf, failure } from "../support/failure.ts";
import { rawServer, reply, type RawServer } from "../support/raw-server.ts";

const URL = "https://pay.example/checkout?r=L1";
const headOf = (server: RawServer, index = 0): string =>
  (server.requests[index] ?? "").split("\r\n\r\n")[0] ?? "";

describe("requests", () => {
  it("go to the configured path, with its query", async () => {
    const server = await rawServer(reply(200, ANSWER));
    await apiAt(server.url, { linksPath: "/pay/links?version=2" }).api.createLink(REQUEST);
    expect(headOf(server)).toMatch(/^POST \/pay\/links\?version=2 HTTP/);
  });

  it.each([
    ["X-API-Key: {token}", "X-API-Key: secret-token-1"],
    ["Authorization: ApiKey {token}", "Authorization: ApiKey secret-token-1"],
    ["Authorization: Key {token}, v=1", "Authorization: Key secret-token-1, v=1"],
  ])("carry the token as the setting says: %s", async (authHeader, line) => {
    const server = await rawServer(reply(200, ANSWER));
    await apiAt(server.url, { authHeader }).api.createLink(REQUEST);
    expect(headOf(server).split("\r\n")).toContain(line);
    expect(headOf(server)).not.toContain("Bearer");
  });

  it("carry the configured headers once, and never without the token", async () => {
    const server = await rawServer(reply(200, ANSWER));
    const headers = { "X-Terminal": "7", accept: "application/vnd.pay+json", authorization: "none" };
    await apiAt(server.url, { headers }).api.createLink(REQUEST);
    const lines = headOf(server).split("\r\n");
    expect(lines).toContain("X-Terminal: 7");
    expect(lines.filter((line) => /^accept:/i.test(line))).toEqual(["accept: application/vnd.pay+json"]);
    expect(lines.filter((line) => /^authorization:/i.test(line))).toEqual([
      "Authorization: Bearer secret-token-1",
    ]);
  });

  it("carry no key without an idempotency header", async () => {
    const server = await rawServer(reply(200, ANSWER));
    await apiAt(server.url).api.createLink(REQUEST, "key-1");
    expect(headOf(server)).not.toContain("key-1");
  });
});

describe("a request with an idempotency key", () => {
  const idempotencyHeader = "Idempotency-Key";
  const keys = ({ requests }: RawServer) =>
    requests.map((request) => /\r\nIdempotency-Key: (\S+)/.exec(request)?.[1]);

  it.each<[string, Parameters<typeof rawServer>[0]]>([
    ["a reset", (socket) => socket.resetAndDestroy()],
    ["a gateway's failure", reply(502, "")],
  ])("is sent again with the same key after %s", async (_, fault) => {
    const server = await rawServer((socket, count) =>
      (count < 3 ? fault : reply(200, ANSWER))(socket, count),
    );
    const { api, waits } = apiAt(server.url, { idempotencyHeader });
    expect((await api.createLink(REQUEST)).link.url).toBe(URL);
    expect(keys(server)).toEqual(["id-1", "id-1", "id-1"]);
    expect(waits.map(({ mayHaveArrived }) => mayHaveArrived)).toEqual([true, true]);
  });

  it("has a new key for each link, or the key that the caller gives", async () => {
    const server = await rawServer(reply(200, ANSWER));
    const { api } = apiAt(server.url, { idempotencyHeader });
    await api.createLink(REQUEST);
    await api.createLink(REQUEST);
    await api.createLink(REQUEST, "kept-1");
    expect(keys(server)).toEqual(["id-1", "id-2", "kept-1"]);
  });

  it.each<[string, Parameters<typeof rawServer>[0]]>([
    ["a refusal", reply(409, '{"message":"in progress"}')],
    ["maintenance", reply(503, "")],
  ])("stays of unknown outcome if %s follows an attempt that may have arrived", async (_, later) => {
    const server = await rawServer((socket, count) =>
      count === 1 ? socket.resetAndDestroy() : later(socket, count),
    );
    const error = await failure(apiAt(server.url, { idempotencyHeader }).api.createLink(REQUEST));
    expect(error.code).toBe("outcome_unknown");
    expect(error.message).toContain("with the same key, it answered");
  });

  it("keeps an unknown outcome after the last retry, and is not sent again without an answer", async () => {
    const server = await rawServer(reply(500, ""));
    const error = await failure(apiAt(server.url, { idempotencyHeader }).api.createLink(REQUEST));
    expect(error.code).toBe("outcome_unknown");
    expect(server.requests).toHaveLength(4);
    const silent = await rawServer(() => undefined);
    const options = { idempotencyHeader, timeout: 200 };
    expect((await failure(apiAt(silent.url, options).api.createLink(REQUEST))).code).toBe("outcome_unknown");
    expect(silent.requests).toHaveLength(1);
  });
});

describe("a link in another place", () => {
  it.each([
    ["/data", `{"code":0,"data":${ANSWER}}`],
    ["/result/links/0", `{"result":{"links":[${ANSWER}]}}`],
    ["/a~1b", `{"a/b":${ANSWER}}`],
  ])("is read at %s", async (linkAt, answer) => {
    const server = await rawServer(reply(200, answer));
    const created = await apiAt(server.url, { linkAt }).api.createLink(REQUEST);
    expect(created.link).toMatchObject({ id: "L1", url: URL });
    expect(created.text).toBe(answer);
    expect(created.violations).toEqual([]);
  });

  it("may be a URL of another name, and the object around it has the other fields", async () => {
    const server = await rawServer(reply(200, `{"data":{"id":"L1","paymentUrl":"${URL}"}}`));
    const { link } = await apiAt(server.url, { linkAt: "/data/paymentUrl" }).api.createLink(REQUEST);
    expect(link).toMatchObject({ id: "L1", url: URL });
  });

  const echoed = { ...REQUEST, paymentSettings: { callbackUrl: "https://shop.example/hook" } };

  it.each([
    ["/data", `{"data":{"callbackUrl":"https://shop.example/hook","id":"L1","url":"${URL}"}}`],
    ["/items/1", `{"items":[{"id":"L0"},{"url":"${URL}"}]}`],
    ["/data/paymentUrl", `{"message":"ok","code":200,"data":{"paymentUrl":"${URL}"}}`],
    ["/_links/pay/href", `{"id":"L1","_links":{"pay":{"href":"${URL}"}}}`],
    ["/0", `[{"url":"${URL}"}]`],
  ])("is named if the reply has it elsewhere: %s", async (pointer, answer) => {
    const server = await rawServer(reply(200, answer));
    const error = await failure(apiAt(server.url).api.createLink(echoed));
    expect([error.code, error.exit]).toEqual(["outcome_unknown", 6]);
    expect(adviceOf(error)).toContain(`paylink config set linkAt ${pointer}`);
    expect(error.details).toMatchObject({ body: answer, linkAt: pointer });
    // The pointer that the hint names works.
    const again = await rawServer(reply(200, answer));
    expect((await apiAt(again.url, { linkAt: pointer }).api.createLink(echoed)).link.url).toBe(URL);
  });

  it.each([
    ["/wrong", ANSWER.replace("checkout", "other"), "no URL of a link at /wrong (linkAt)"],
    [undefined, '{"id":"L1","callbackUrl":"https://shop.example/hook"}', "no URL of a link"],
    [undefined, '{"id":"L1","url":"/checkout?r=L1"}', "no URL of a link"],
  ])("is of unknown outcome if no URL is found (linkAt %s)", async (linkAt, answer, words) => {
    const server = await rawServer(reply(200, answer));
    const error = await failure(apiAt(server.url, { linkAt }).api.createLink(echoed));
    expect([error.code, error.exit]).toEqual(["outcome_unknown", 6]);
    expect(error.message).toContain(words);
    expect(error.details["body"]).toBe(answer);
  });

  it("may appear later after a 202", async () => {
    const server = await rawServer(reply(202, '{"id":"L1"}'));
    const error = await failure(apiAt(server.url).api.createLink(REQUEST));
    expect(error.exit).toBe(6);
    expect(adviceOf(error)).toContain("may create the link later");
    const whole = await rawServer(reply(202, ANSWER));
    expect((await apiAt(whole.url).api.createLink(REQUEST)).link.url).toBe(URL);
  });
});

describe("a reply of 200 with an error inside", () => {
  it.each([
    ['{"error":"terminal unknown"}', "terminal unknown", undefined],
    ['{"success":false,"errorCode":"E42","errorMessage":"terminal unknown"}', "terminal unknown", "E42"],
    ['{"code":275,"message":"terminal unknown"}', "terminal unknown", "275"],
    ['{"status":"error","message":"terminal unknown"}', "terminal unknown", undefined],
    [
      '{"fault":{"faultstring":"terminal unknown","detail":{"errorcode":"oauth.x"}}}',
      "terminal unknown",
      "oauth.x",
    ],
    ['{"errors":[{"field":"terminalId","message":"is unknown"}]}', "terminalId is unknown", undefined],
  ])("is refused: %s", async (answer, words, code) => {
    const server = await rawServer(reply(200, answer));
    const error = await failure(apiAt(server.url).api.createLink(REQUEST));
    expect([error.code, error.exit]).toEqual(["refused", 4]);
    expect(error.message).toContain(words);
    expect(error.details["code"]).toBe(code);
  });

  it("is a link if it has one, whatever else it says", async () => {
    const answer = ANSWER.replace('"extra":1.0e2', '"error":null,"errors":[],"code":0,"message":"created"');
    const server = await rawServer(reply(200, answer));
    expect((await apiAt(server.url).api.createLink(REQUEST)).link.url).toBe(URL);
  });
});

describe("a link of other types", () => {
  it("keeps its amount and dates as received, with a warning for each", async () => {
    const answer = `{"id":"L1","url":"${URL}","amount":"10.00","createdDate":1769860800,
      "expirationDate":"2030-01-31 12:00:00","viewedDate":null,"currency":"EUR"}`;
    const server = await rawServer(reply(200, answer));
    const { link, violations } = await apiAt(server.url).api.createLink(REQUEST);
    expect(String(link.amount)).toBe("10.00");
    expect(String(link.createdDate)).toBe("1769860800");
    expect(link.expirationDate).toBe("2030-01-31 12:00:00");
    const at = violations.map(({ at }) => at);
    for (const name of ["amount", "createdDate", "expirationDate"]) expect(at).toContain(name);
  });

  it.each(["application/vnd.pay.v1+json", "application/hal+json; charset=utf-8"])(
    "needs no warning for the media type %s",
    async (type) => {
      const server = await rawServer(reply(200, ANSWER, { "Content-Type": type }));
      expect((await apiAt(server.url).api.createLink(REQUEST)).violations).toEqual([]);
    },
  );
});

describe("a transaction", () => {
  const record = '{"uti":"u-1","amountTrans":10.00}';

  it("is read at a whole URL, with the token", async () => {
    const server = await rawServer(reply(200, record));
    const transactionUrl = `${server.url}/Transaction/{uti}?copy={uti}`;
    const body = await apiAt("https://api.invalid", { transactionUrl }).api.readTransaction("u/1");
    expect(new TextDecoder().decode(body)).toBe(record);
    expect(headOf(server)).toMatch(/^GET \/Transaction\/u%2F1\?copy=u%2F1 HTTP/);
    expect(headOf(server)).toContain("Authorization: Bearer secret-token-1");
  });

  it("is not read without https", async () => {
    const transactionUrl = "http://service.example/{uti}";
    const error = await failure(apiAt("https://api.invalid", { transactionUrl }).api.readTransaction("u"));
    expect([error.code, error.exit]).toEqual(["usage", 2]);
  });

  it("is read from its envelope with every digit", async () => {
    const server = await rawServer(reply(200, `{"data":${record}}`));
    const read = await apiAt(server.url, { recordAt: "/data" }).api.readTransaction("u-1");
    expect(new TextDecoder().decode(read)).toBe(record);
  });

  it("names the setting if the envelope is missing", async () => {
    const server = await rawServer(reply(200, record));
    const error = await failure(apiAt(server.url, { recordAt: "/data" }).api.readTransaction("u-1"));
    expect([error.code, error.exit]).toEqual(["not_reached", 5]);
    expect(error.message).toContain("without a transaction record at /data (recordAt)");
  });

  it.each([
    ["/data", `{"status":"ok","data":${record}}`],
    ["/result/0", `{"result":[${record},${record}]}`],
    ["/a/transaction", `{"a":{"reference":"INV-1","transaction":${record}}}`],
  ])("that is wrapped names the place: %s", async (place, body) => {
    const server = await rawServer(reply(200, body));
    const error = await failure(apiAt(server.url).api.readTransaction("u-1"));
    expect(error).toMatchObject({ code: "not_reached", details: { recordAt: place } });
    expect(adviceOf(error)).toContain(`paylink config set recordAt ${place}`);
    const read = await apiAt(server.url, { recordAt: place }).api.readTransaction("u-1");
    expect(new TextDecoder().decode(read)).toBe(record);
  });

  it.each([
    [undefined, `[${record}]`],
    ["/data", `{"data":[${record}]}`],
  ])("is read from a list of one: %s", async (recordAt, body) => {
    const server = await rawServer(reply(200, body));
    const read = await apiAt(server.url, { recordAt }).api.readTransaction("u-1");
    expect(new TextDecoder().decode(read)).toBe(record);
  });

  it.each([
    ["{}", "not_reached", "without a transaction record"],
    ['{"status":"ok"}', "not_reached", "without a transaction record"],
    ["<html><title>Shop</title></html>", "not_reached", 'an HTML page with the title "Shop"'],
    ['{"errorCode":"E7","message":"no access"}', "refused", "answered 200: no access (code E7)"],
  ])("is not %s", async (body, code, words) => {
    const error = await failure(apiAt((await rawServer(reply(200, body))).url).api.readTransaction("u-1"));
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
  });
});
