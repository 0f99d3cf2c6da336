/** The service's operations besides links: access tokens, reading a transaction, the key set, and the OpenAPI description. */
import type { Context, Hono } from "hono";
import { stringifyJson } from "../../domain/json.ts";
import type { TokenError } from "../access-tokens.ts";
import { transactionResponse } from "../payments.ts";
import { ServiceProblem } from "../service-problem.ts";
import type { Service } from "../service.ts";

export function apiRoutes(app: Hono, service: Service): void {
  app.post("/oauth/token", (c) => issueToken(c, service));
  app.get("/v1/transactions/:uti", (c) => readTransaction(c, service));
  app.get("/openapi.json", (c) => describeService(c));
  app.get("/.well-known/jwks.json", () => jsonReply({ keys: service.parts.keys.published() }));
}

export const jsonReply = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(stringifyJson(value), { status, headers: { "Content-Type": "application/json", ...headers } });

async function issueToken(c: Context, { tokens }: Service): Promise<Response> {
  const form = await tokenForm(c);
  const answer = form === undefined ? NO_FORM : tokens.issue(c.req.header("authorization"), form);
  if (!("error" in answer)) return jsonReply(answer, 200, { "Cache-Control": "no-store" });
  const { status, ...body } = answer;
  return jsonReply(body, status, status === 401 ? { "WWW-Authenticate": "Basic" } : {});
}

const NO_FORM: TokenError = {
  status: 400,
  error: "invalid_request",
  error_description: "the body is not multipart form data",
};

/** The service's own sample sends multipart form data. Undefined if the body is not what its Content-Type says. */
async function tokenForm(c: Context): Promise<URLSearchParams | undefined> {
  if (!/^multipart\/form-data\s*;/i.test(c.req.header("content-type") ?? ""))
    return new URLSearchParams(await c.req.text());
  const form = await c.req.formData().catch(() => undefined);
  if (form === undefined) return undefined;
  const fields = new URLSearchParams();
  for (const [name, value] of form) if (typeof value === "string") fields.append(name, value);
  return fields;
}

async function describeService(c: Context): Promise<Response> {
  const { sandboxDocument } = await import("../openapi/document.ts");
  const headers = { "Content-Type": "application/json" };
  return new Response(sandboxDocument(new URL(c.req.url).origin), { headers });
}

function readTransaction(c: Context, { parts }: Service): Response {
  const payment = parts.ledger.findPayment(c.req.param("uti") ?? "");
  const link = payment && parts.ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined)
    throw new ServiceProblem(404, "Not Found", "no transaction has this uti");
  return jsonReply(transactionResponse(payment.record, link));
}
