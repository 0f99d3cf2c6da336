/** The token endpoint: the ways to send credentials, what it refuses, and how long a token is valid. */
import { describe, expect, it } from "vitest";
import { openTestSandbox, type TestSandbox } from "../support/sandbox.ts";

type Fields = Readonly<Record<string, string>>;

const fieldsFor = ({ identity }: TestSandbox): Fields => ({
  grant_type: "client_credentials",
  scope: "pay_by_link",
  client_id: identity.clientId,
  client_secret: identity.clientSecret,
});

const URL_ENCODED = "application/x-www-form-urlencoded";

const post = (service: TestSandbox, body: string, headers: Fields = { "Content-Type": URL_ENCODED }) =>
  service.request("POST", "/oauth2/token", { headers, body });

const postForm = (service: TestSandbox, fields: Fields, headers?: Fields) =>
  post(service, new URLSearchParams(fields).toString(), headers);

/** The body and its type as fetch makes them. */
async function multipart(fields: Fields): Promise<[body: string, headers: Fields]> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const made = new Response(form);
  return [await made.text(), { "Content-Type": made.headers.get("content-type") ?? "" }];
}

const useToken = (service: TestSandbox, token: unknown) =>
  service.request("GET", "/v1/payment-links/none", { headers: { Authorization: `Bearer ${String(token)}` } });

describe("a token is issued", () => {
  it("for form fields, and is valid for an hour", async () => {
    const service = openTestSandbox();
    const answer = await postForm(service, fieldsFor(service));
    expect(answer.status).toBe(200);
    expect(answer.header("cache-control")).toBe("no-store");
    const { access_token, ...rest } = answer.json();
    const documented = { token_type: "Bearer", expires_in: 3600, scope: "pay_by_link", refresh_token: "" };
    expect(rest).toEqual(documented);
    expect((await useToken(service, access_token)).status).toBe(404);
    await service.control("/sandbox/advance", { when: "1h" });
    expect((await useToken(service, access_token)).status).toBe(401);
  });

  it("for multipart form data", async () => {
    const service = openTestSandbox();
    const answer = await post(service, ...(await multipart(fieldsFor(service))));
    expect(answer.status).toBe(200);
    expect((await useToken(service, answer.json()["access_token"])).status).toBe(404);
  });

  it("for HTTP Basic with --token-auth basic", async () => {
    const service = openTestSandbox({ tokenAuth: "basic" });
    const answer = await postForm(service, GRANT, basicHeaders(service));
    expect(answer.status).toBe(200);
    expect((await useToken(service, answer.json()["access_token"])).status).toBe(404);
    expect((await postForm(service, fieldsFor(service))).status).toBe(200);
  });
});

const GRANT = { grant_type: "client_credentials", scope: "pay_by_link" };

function basicHeaders({ identity: { clientId, clientSecret } }: TestSandbox): Fields {
  const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
  return { "Content-Type": URL_ENCODED, Authorization: `Basic ${credentials}` };
}

describe("no token is issued", () => {
  it.each([
    [{ scope: "payments" }, 400, "invalid_scope"],
    [{ scope: "" }, 400, "invalid_request"],
    [{ grant_type: "password" }, 400, "unsupported_grant_type"],
    [{ client_id: "nobody" }, 401, "invalid_client"],
    [{ client_secret: "nonsense" }, 401, "invalid_client"],
  ])("for %j", async (changes, status, error) => {
    const service = openTestSandbox();
    const fields = { ...fieldsFor(service), ...changes };
    for (const answer of [
      await postForm(service, fields),
      await post(service, ...(await multipart(fields))),
    ]) {
      expect(answer.status).toBe(status);
      expect(answer.json()).toEqual({ error, error_description: expect.any(String) });
    }
  });

  it.each(["grant_type", "scope", "client_id", "client_secret"])("without %s", async (name) => {
    const service = openTestSandbox();
    const fields = Object.fromEntries(Object.entries(fieldsFor(service)).filter(([field]) => field !== name));
    const answer = await postForm(service, fields);
    expect([answer.status, answer.json()["error"]]).toEqual([400, "invalid_request"]);
    expect(answer.json()["error_description"]).toContain(name);
  });

  it("for HTTP Basic, which the service does not take, and says what allows it", async () => {
    const service = openTestSandbox();
    const answer = await postForm(service, GRANT, basicHeaders(service));
    expect([answer.status, answer.json()["error"]]).toEqual([401, "invalid_client"]);
    expect(answer.json()["error_description"]).toContain("--token-auth basic");
  });

  it("for JSON, and for a field that is there twice", async () => {
    const service = openTestSandbox();
    const json = await post(service, JSON.stringify(fieldsFor(service)), {
      "Content-Type": "application/json",
    });
    expect([json.status, json.json()["error"]]).toEqual([400, "invalid_request"]);
    const form = `${new URLSearchParams(fieldsFor(service)).toString()}&scope=pay_by_link`;
    expect((await post(service, form)).status).toBe(400);
  });

  it("for a body that is not the multipart form data it claims to be", async () => {
    const service = openTestSandbox();
    const headers = { "Content-Type": "multipart/form-data; boundary=x" };
    const answer = await postForm(service, fieldsFor(service), headers);
    expect(answer.status).toBe(400);
    expect(answer.json()["error"]).toBe("invalid_request");
  });
});
