/** The service's own interface: access tokens, "Create payment link", reading a transaction, and the key set. */
import type { Context, Hono } from "hono";
import { parseJson, stringifyJson, type Json } from "../domain/json.ts";
import { createLink, linkResponse, type Link } from "./links.ts";
import { transactionResponse } from "./payments.ts";
import { ServiceProblem } from "./problem.ts";
import type { Service } from "./service.ts";

export function apiRoutes(app: Hono, service: Service): void {
  app.post("/oauth/token", (c) => token(c, service));
  app.post("/v1/payment-links", (c) => create(c, service));
  app.get("/v1/transactions/:uti", (c) => transaction(c, service));
  app.get("/.well-known/jwks.json", () => json({ keys: service.parts.keys.published() }));
}

export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(stringifyJson(value), { status, headers: { "Content-Type": "application/json", ...headers } });

/** OAuth 2.0 client credentials: the token endpoint that the specification leaves open. */
async function token(c: Context, { accounts }: Service): Promise<Response> {
  const answer = accounts.issueToken(c.req.header("authorization"), new URLSearchParams(await c.req.text()));
  if (!("error" in answer)) return json(answer, 200, { "Cache-Control": "no-store" });
  const { status, ...body } = answer;
  return json(body, status, status === 401 ? { "WWW-Authenticate": "Basic" } : {});
}

async function create(c: Context, service: Service): Promise<Response> {
  service.accounts.merchantOf(c.req.header("authorization"));
  const link = await keepLink(service, await jsonBody(c), c.req.url);
  return json(linkResponse(link, checkoutUrl(c.req.url), service.parts.clock.now()));
}

/** Where customers pay, at the address that the sandbox was reached by. */
export const checkoutUrl = (url: string): string => new URL("/pay", url).href;

/** Makes a link of a request and resolves when it is durable. */
export async function keepLink(service: Service, request: Json, url: string): Promise<Link> {
  const { merchant, ids, ledger, clock } = service.parts;
  const link = createLink(request, merchant, ids.newId, clock.now());
  await ledger.write(() => ledger.addLink(link));
  service.tell({ type: "link", link, url: `${checkoutUrl(url)}?r=${link.id}` });
  return link;
}

async function jsonBody(c: Context): Promise<Json> {
  const [mediaType = ""] = (c.req.header("content-type") ?? "").split(";", 1);
  if (mediaType.trim().toLowerCase() !== "application/json")
    throw new ServiceProblem(415, "Unsupported Media Type", "Content-Type must be application/json");
  const parsed = parseJson(await c.req.text());
  if (!parsed.ok) throw new ServiceProblem(400, "Bad Request", `the body ${parsed.message}`);
  return parsed.value.value;
}

function transaction(c: Context, { accounts, parts }: Service): Response {
  accounts.merchantOf(c.req.header("authorization"));
  const payment = parts.ledger.findPayment(c.req.param("uti") ?? "");
  const link = payment && parts.ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined)
    throw new ServiceProblem(404, "Not Found", "no transaction has this uti");
  return json(transactionResponse(payment.record, link));
}
