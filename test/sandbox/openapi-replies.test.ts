/** Every reply and every webhook of the sandbox, held to its OpenAPI document. */
import { describe, expect, it } from "vitest";
import { TRANSACTION_FIELDS } from "../../src/domain/transaction-fields.ts";
import { openApiDocument } from "../../src/sandbox/openapi/document.ts";
import { checksOf, component, operationsOf, parseOpenApi } from "../support/openapi.ts";
import {
  linkId,
  NOW,
  oneTime,
  openTestSandbox,
  reusable,
  type Answer,
  type TestSandbox,
  paidRecord,
} from "../support/sandbox.ts";

const DOCUMENT = parseOpenApi(openApiDocument());
const LINKS = "/v1/payment-links";
const FORM = { "Content-Type": "application/x-www-form-urlencoded" };

describe("the sandbox", () => {
  it("gives only replies of the document, and all of them", async () => {
    const service = openTestSandbox();
    const checks = checksOf(DOCUMENT);
    const given = new Set<string>();
    const check = (method: string, target: string, answer: Answer): Answer => {
      given.add(checks.reply(method, target, answer));
      return answer;
    };
    await callEverything(service, check);
    const documented = operationsOf(DOCUMENT).flatMap(({ operationId, responses }) =>
      Object.keys(responses)
        .map((status) => `${operationId} ${status}`)
        .filter((reply) => !NEVER_GIVEN.test(reply)),
    );
    expect(documented.length).toBeGreaterThan(20);
    expect([...given].toSorted()).toEqual(documented.toSorted());
  });
});

/** A sandbox has one merchant, whose links are all on the one terminal. */
const NEVER_GIVEN = / (?:503|default)$|^(?:get|update|cancel)PaymentLink 403$/;

const EXPIRY = "2026-12-01T12:00:00Z";

type Check = (method: string, target: string, answer: Answer) => Answer;

/** Every operation with every status that it is documented to answer, and with others. */
async function callEverything(service: TestSandbox, check: Check): Promise<void> {
  const call = async (method: string, target: string, body?: object): Promise<Answer> =>
    check(method, target, await service.call(method, target, body));
  const send = async (method: string, target: string, options: object): Promise<Answer> =>
    check(method, target, await service.request(method, target, options));
  const terminalId = service.identity.terminalId;
  const { clientId, clientSecret } = service.identity;
  const period = { from: NOW.toISOString(), to: "2027-01-01T00:00:00Z" };

  const first = String((await call("POST", LINKS, oneTime())).json()["id"]);
  await call("POST", LINKS, reusable({ mode: "REUSABLE_VARIABLE", minAmount: 5, maxAmount: "9.50" }));
  await call("POST", LINKS, { amount: "10" });
  await call("POST", LINKS, []);
  await call("POST", LINKS, oneTime({ terminalId: "0000000000" }));
  await send("POST", LINKS, { body: "{}" });
  const bearer = { Authorization: `Bearer ${service.identity.token}` };
  await send("POST", LINKS, { headers: { ...bearer, "Content-Type": "text/plain" }, body: "{}" });
  await send("POST", LINKS, { headers: { ...bearer, "Content-Type": "application/json" }, body: "{" });

  await call("GET", `${LINKS}?${new URLSearchParams({ ...period, terminalId, page: "1" }).toString()}`);
  await call("GET", `${LINKS}?${new URLSearchParams({ ...period, terminalId: "0" }).toString()}`);
  await call("GET", LINKS);
  await send("GET", LINKS, {});

  for (const [method, action, body] of [
    ["GET", "", undefined],
    ["PATCH", "", { description: "Coffee", expirationDate: EXPIRY }],
    ["POST", "/cancel", undefined],
  ] as const) {
    await call(method, `${LINKS}/none${action}`, body);
    await send(method, `${LINKS}/${first}${action}`, {});
  }
  await call("PATCH", `${LINKS}/${first}`, { description: "Coffee", expirationDate: EXPIRY });
  await call("PATCH", `${LINKS}/${first}`, { amount: 1 });
  await send("PATCH", `${LINKS}/${first}`, { headers: bearer, body: "{}" });

  await service.request("GET", `/pay?r=${first}`);
  await call("GET", `${LINKS}/${first}`);
  for (const outcome of ["cancelled", "declined", "approved"]) {
    const { uti } = (await service.pay(first, { outcome })).json();
    await call("GET", `/v1/transactions/${String(uti)}`);
    await call("GET", `${LINKS}/${first}`);
  }
  await call("GET", "/v1/transactions/none");
  await send("GET", "/v1/transactions/none", {});
  await call("PATCH", `${LINKS}/${first}`, { description: "Tea", expirationDate: EXPIRY });
  await call("POST", `${LINKS}/${first}/cancel`);
  await call("POST", `${LINKS}/${await linkId(service, oneTime())}/cancel`);

  const credentials = { client_id: clientId, client_secret: clientSecret };
  for (const changes of [{}, { scope: "other" }, { client_secret: "wrong" }]) {
    const fields = { grant_type: "client_credentials", scope: "pay_by_link", ...credentials, ...changes };
    await send("POST", "/oauth2/token", { headers: FORM, body: new URLSearchParams(fields).toString() });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    const multipart = new Response(form);
    const headers = { "Content-Type": multipart.headers.get("content-type") ?? "" };
    await send("POST", "/oauth2/token", { headers, body: await multipart.text() });
  }
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
  const body = "grant_type=client_credentials";
  await send("POST", "/oauth2/token", { headers: { ...FORM, Authorization: basic }, body });

  await service.control("/sandbox/rotate-key");
  await send("GET", "/.well-known/jwks.json", {});
}

const OUTCOMES = ["approved", "declined", "cancelled"] as const;
const WEBHOOKS = { approved: "paymentApproved", declined: "paymentFailed", cancelled: "paymentFailed" };
const SCHEMAS = {
  approved: "ApprovedTransaction",
  declined: "DeclinedTransaction",
  cancelled: "CancelledTransaction",
};

describe.each(OUTCOMES)("the webhook of a payment that is %s", (outcome) => {
  const schemaName = SCHEMAS[outcome];
  const checks = checksOf(DOCUMENT);
  const webhook = DOCUMENT.webhooks[WEBHOOKS[outcome]]?.post ?? {};

  async function delivered() {
    const service = openTestSandbox();
    await paidRecord(service, outcome);
    const [posted] = service.posted;
    if (posted === undefined) throw new Error("no webhook was posted");
    const record = JSON.parse(Buffer.from(posted.body).toString()) as Readonly<Record<string, unknown>>;
    return { posted, record };
  }

  it("is as documented, with its headers", async () => {
    const { posted, record } = await delivered();
    checks.value(webhook.requestBody?.content?.["application/json"]?.schema ?? {}, record);
    expect(webhook.parameters?.map((parameter) => parameter.name)).toEqual([
      "Content-Digest",
      "Signature-Input",
      "Signature",
    ]);
    for (const { name: header = "", schema = {} } of webhook.parameters ?? []) {
      const [, value] = posted.headers.find(([spelled]) => spelled === header) ?? [];
      checks.value(schema, value);
    }
  });

  it("has exactly the fields of its outcome", async () => {
    const { record } = await delivered();
    for (const other of Object.values(SCHEMAS))
      expect(checks.isValid(component(other), record)).toBe(other === schemaName);
    const schema = component(schemaName);
    const fields = Object.keys(record);
    const without = (field: string) =>
      fields.filter((name) => name !== field).map((name) => [name, record[name]]);
    expect(fields.filter((field) => checks.isValid(schema, Object.fromEntries(without(field))))).toEqual([]);
    expect(fields.filter((field) => checks.isValid(schema, { ...record, [field]: null }))).toEqual([]);
    const others = TRANSACTION_FIELDS.map(({ name }) => name).filter((name) => !fields.includes(name));
    expect(others).toHaveLength({ approved: 0, declined: 1, cancelled: 5 }[outcome]);
    expect(others.filter((name) => checks.isValid(schema, { ...record, [name]: "1" }))).toEqual([]);
  });
});
