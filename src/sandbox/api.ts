/** The service's API: payment links, access tokens, transactions, the key set, and the OpenAPI description. */
import type { Context, Hono } from "hono";
import type { Json } from "../domain/json.ts";
import { LINKS_PATH } from "../domain/known-services.ts";
import { parseJson } from "../domain/parse-json.ts";
import type { Link } from "./store/rows.ts";
import { addLink, cancelLink, findLink, linkResponse, listLinks, updateLink } from "./links.ts";
import { checkoutUrl } from "./access.ts";
import { jsonReply, ServiceProblem } from "./replies.ts";
import type { SandboxRuntime } from "./runtime.ts";

export function apiRoutes(app: Hono, runtime: SandboxRuntime): void {
  linkRoutes(app, runtime);
  app.post("/oauth2/token", (c) => issueToken(c, runtime));
  app.get("/v1/transactions/:uti", (c) => readTransaction(c, runtime));
  app.get("/openapi.json", () => describeService());
  app.get("/.well-known/jwks.json", () => jsonReply({ keys: runtime.keys.published() }));
}

async function issueToken(c: Context, { tokens }: SandboxRuntime): Promise<Response> {
  // Multipart form data as in the service's own sample, or the form of RFC 6749.
  const form = await c.req.formData().catch(() => undefined);
  const answer = tokens.issue(c.req.header("authorization"), form);
  if (!("error" in answer)) return jsonReply(answer, 200, { "Cache-Control": "no-store" });
  const { status, challenge, ...body } = answer;
  return jsonReply(body, status, challenge === undefined ? {} : { "WWW-Authenticate": challenge });
}

async function describeService(): Promise<Response> {
  const { openApiDocument } = await import("./openapi/document.ts");
  return new Response(openApiDocument(), { headers: { "Content-Type": "application/json" } });
}

/** The record, with the merchant's own data of its link (Overview 6). */
function readTransaction(c: Context, { ledger }: SandboxRuntime): Response {
  const payment = ledger.findPayment(c.req.param("uti") ?? "");
  const link = payment && ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined)
    throw new ServiceProblem(404, "no transaction has this uti");
  const { merchantCustomData } = link.request;
  return jsonReply({ ...payment.record, merchantCustomData });
}

function linkRoutes(app: Hono, runtime: SandboxRuntime): void {
  const shown = (c: Context, link: Link) => linkResponse(link, checkoutUrl(c, runtime), runtime.clock.now());
  const reply = (c: Context, link: Link): Response => jsonReply(shown(c, link));
  app.post(LINKS_PATH, async (c) => reply(c, addLink(runtime, await jsonBody(c), checkoutUrl(c, runtime))));
  app.get(LINKS_PATH, (c) => {
    const { totalCount, records } = listLinks(runtime, c.req.query());
    return jsonReply({ totalCount, records: records.map((link) => shown(c, link)) });
  });
  app.get(`${LINKS_PATH}/:id`, (c) => reply(c, findLink(runtime.ledger, c.req.param("id"))));
  app.patch(`${LINKS_PATH}/:id`, async (c) =>
    reply(c, updateLink(runtime, c.req.param("id"), await jsonBody(c))),
  );
  app.post(`${LINKS_PATH}/:id/cancel`, (c) => reply(c, cancelLink(runtime, c.req.param("id"))));
}

async function jsonBody(c: Context): Promise<Json> {
  const [mediaType = ""] = (c.req.header("content-type") ?? "").split(";", 1);
  if (mediaType.trim().toLowerCase() !== "application/json")
    throw new ServiceProblem(400, "Content-Type must be application/json");
  const parsed = parseJson(await c.req.text());
  if (!parsed.ok) throw new ServiceProblem(400, `the body ${parsed.message}`);
  return parsed.value.value;
}
