/** The service's own interface besides links: access tokens, reading a transaction, and the key set. */
import type { Context, Hono } from "hono";
import { stringifyJson } from "../../domain/json.ts";
import { transactionResponse } from "../payments.ts";
import { ServiceProblem } from "../service-problem.ts";
import type { Service } from "../service.ts";

export function apiRoutes(app: Hono, service: Service): void {
  app.post("/oauth/token", (c) => issueToken(c, service));
  app.get("/v1/transactions/:uti", (c) => readTransaction(c, service));
  app.get("/.well-known/jwks.json", () => jsonReply({ keys: service.parts.keys.published() }));
}

export const jsonReply = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(stringifyJson(value), { status, headers: { "Content-Type": "application/json", ...headers } });

/** OAuth 2.0 client credentials: the specification leaves the token endpoint open. */
async function issueToken(c: Context, { tokens }: Service): Promise<Response> {
  const answer = tokens.issue(c.req.header("authorization"), new URLSearchParams(await c.req.text()));
  if (!("error" in answer)) return jsonReply(answer, 200, { "Cache-Control": "no-store" });
  const { status, ...body } = answer;
  return jsonReply(body, status, status === 401 ? { "WWW-Authenticate": "Basic" } : {});
}

function readTransaction(c: Context, { parts }: Service): Response {
  const payment = parts.ledger.findPayment(c.req.param("uti") ?? "");
  const link = payment && parts.ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined)
    throw new ServiceProblem(404, "Not Found", "no transaction has this uti");
  return jsonReply(transactionResponse(payment.record, link));
}
