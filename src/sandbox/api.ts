/** The service's API: payment links, access tokens, transactions, the key set, and the OpenAPI description. */
import type { Context, Hono } from "hono";
import type { Exchanges } from "../domain/exchanges.ts";
import type { Json, JsonObject } from "../values/json.ts";
import { OPERATION_NAMES, type OperationName, OPERATIONS } from "../domain/operations.ts";
import type { WellFormedLink } from "../domain/payment-link-shapes.ts";
import { parseJson } from "../values/parse-json.ts";
import type { Link } from "./store/ledger-rows.ts";
import { addLink, cancelLink, findLink, linkResponse, linksListed, changeLink } from "./links.ts";
import { checkoutUrl } from "./access.ts";
import { jsonReply, ServiceProblem } from "./replies.ts";
import type { SandboxRuntime } from "./runtime.ts";

/** Answers an operation; a refusal is thrown, or is an answer of another form. */
type Answer<Name extends OperationName> = (
  c: Context,
  runtime: SandboxRuntime,
) => Exchanges[Name]["reply"] | Response | Promise<Exchanges[Name]["reply"] | Response>;

const shown = (c: Context, runtime: SandboxRuntime, link: Link): WellFormedLink =>
  linkResponse(link, checkoutUrl(c, runtime), runtime.clock.now());

const idIn = (c: Context): string => c.req.param("id") ?? "";

const API_ANSWERS: { readonly [Name in OperationName]: Answer<Name> } = {
  token: issueToken,
  create: async (c, runtime) =>
    shown(c, runtime, addLink(runtime, await jsonBody(c), checkoutUrl(c, runtime))),
  details: (c, runtime) => shown(c, runtime, findLink(runtime.ledger, idIn(c))),
  list: (c, runtime) => {
    const { totalCount, records } = linksListed(runtime, c.req.query());
    return { totalCount, records: records.map((link) => shown(c, runtime, link)) };
  },
  update: async (c, runtime) => shown(c, runtime, changeLink(runtime, idIn(c), await jsonBody(c))),
  cancel: (c, runtime) => shown(c, runtime, cancelLink(runtime, idIn(c))),
  transaction: readTransaction,
};

export function apiRoutes(app: Hono, runtime: SandboxRuntime): void {
  for (const name of OPERATION_NAMES) {
    const { method, path } = OPERATIONS[name];
    app.on(method, path.replace(/\{(\w+)\}/g, ":$1"), async (c) => {
      const answer = await API_ANSWERS[name](c, runtime);
      return answer instanceof Response ? answer : jsonReply(answer);
    });
  }
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

/** The record, with the merchant's own data of its link (Overview 6). */
function readTransaction(c: Context, { ledger }: SandboxRuntime): JsonObject {
  const payment = ledger.findPayment(c.req.param("uti") ?? "");
  const link = payment && ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined)
    throw new ServiceProblem(404, "no transaction has this uti");
  const { merchantCustomData } = link.request;
  return { ...payment.record, ...(merchantCustomData === undefined ? {} : { merchantCustomData }) };
}

async function describeService(): Promise<Response> {
  const { openApiDocument } = await import("./openapi/document.ts");
  return new Response(openApiDocument(), { headers: { "Content-Type": "application/json" } });
}

async function jsonBody(c: Context): Promise<Json> {
  const [mediaType = ""] = (c.req.header("content-type") ?? "").split(";", 1);
  if (mediaType.trim().toLowerCase() !== "application/json")
    throw new ServiceProblem(400, "Content-Type must be application/json");
  const parsed = parseJson(await c.req.text());
  if (!parsed.ok) throw new ServiceProblem(400, `the body ${parsed.message}`);
  return parsed.value.value;
}
