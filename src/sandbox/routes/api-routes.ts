/** The service's own interface: access tokens, "Create payment link", reading a transaction, and the key set. */
import type { Context, Hono } from "hono";
import { parseJson, stringifyJson, type Json } from "../../domain/json.ts";
import { linkResponse } from "../links.ts";
import { addLink } from "../operations.ts";
import { transactionResponse } from "../payments.ts";
import { ServiceProblem } from "../service-problem.ts";
import type { Service } from "../service.ts";

export function apiRoutes(app: Hono, service: Service): void {
  app.post("/oauth/token", (c) => issueToken(c, service));
  app.post("/v1/payment-links", (c) => createPaymentLink(c, service));
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

async function createPaymentLink(c: Context, service: Service): Promise<Response> {
  service.tokens.require(c.req.header("authorization"));
  const url = checkoutUrl(c);
  const link = await addLink(service, await jsonBody(c), url);
  return jsonReply(linkResponse(link, url, service.parts.clock.now()));
}

/** The checkout's URL at the address that the client used for the sandbox. */
export const checkoutUrl = (c: Context): string => new URL("/pay", c.req.url).href;

async function jsonBody(c: Context): Promise<Json> {
  const [mediaType = ""] = (c.req.header("content-type") ?? "").split(";", 1);
  if (mediaType.trim().toLowerCase() !== "application/json")
    throw new ServiceProblem(415, "Unsupported Media Type", "Content-Type must be application/json");
  const parsed = parseJson(await c.req.text());
  if (!parsed.ok) throw new ServiceProblem(400, "Bad Request", `the body ${parsed.message}`);
  return parsed.value.value;
}

function readTransaction(c: Context, { tokens, parts }: Service): Response {
  tokens.require(c.req.header("authorization"));
  const payment = parts.ledger.findPayment(c.req.param("uti") ?? "");
  const link = payment && parts.ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined)
    throw new ServiceProblem(404, "Not Found", "no transaction has this uti");
  return jsonReply(transactionResponse(payment.record, link));
}
