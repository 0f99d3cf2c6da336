/** The service of the specification on this machine: tokens, links, checkout, transactions and signed webhooks. */
import { Hono, type Context } from "hono";
import { parseJson, stringifyJson, type Json } from "../domain/json.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import type { Handler, Send } from "../http/exchange.ts";
import { publicJwk, type SigningKey } from "../signatures/keys.ts";
import { createAccounts, type Accounts, type Merchant } from "./accounts.ts";
import { attemptFrom, checkoutPage, resultPage } from "./checkout.ts";
import { createDeliveries, type AttemptReport, type Deliveries } from "./deliveries.ts";
import { createLink, linkResponse, type Link } from "./links.ts";
import { takePayment, transactionResponse, type PaymentIds } from "./payments.ts";
import { ServiceProblem } from "./problem.ts";
import { handlerOf } from "./web.ts";

/** What the sandbox tells of, as it happens. */
export type SandboxEvent =
  | { readonly type: "link"; readonly link: Link; readonly url: string }
  | { readonly type: "payment"; readonly link: Link; readonly record: WellFormedRecord }
  | ({ readonly type: "delivery" } & AttemptReport);

export interface SandboxParts {
  readonly merchant: Merchant;
  readonly key: SigningKey;
  readonly ids: PaymentIds;
  readonly send: Send;
  readonly now: () => Date;
  readonly allowRemote: boolean;
  readonly observe: (event: SandboxEvent) => void;
}

export interface Sandbox {
  readonly handler: Handler;
  close(): Promise<void>;
}

/** Everything the routes work on. */
interface State {
  readonly parts: SandboxParts;
  readonly accounts: Accounts;
  readonly deliveries: Deliveries;
  readonly links: Map<string, Link>;
  readonly transactions: Map<string, { readonly record: WellFormedRecord; readonly link: Link }>;
}

export function createSandbox(parts: SandboxParts): Sandbox {
  const { merchant, now, observe } = parts;
  const state: State = {
    parts,
    accounts: createAccounts(merchant, parts.ids.newId, now),
    deliveries: createDeliveries({ ...parts, report: (report) => observe({ type: "delivery", ...report }) }),
    links: new Map(),
    transactions: new Map(),
  };
  const app = new Hono();
  app.post("/oauth/token", (c) => token(c, state));
  app.post("/v1/payment-links", (c) => create(c, state));
  app.get("/v1/transactions/:uti", (c) => transaction(c, state));
  app.get("/pay", (c) => view(c, state));
  app.post("/pay", (c) => pay(c, state));
  app.get("/.well-known/jwks.json", () => json({ keys: [publicJwk(parts.key.key, parts.key.keyid ?? "")] }));
  app.notFound(() => new ServiceProblem(404, "Not Found", "the sandbox has no such address").toResponse());
  app.onError((error) => {
    if (error instanceof ServiceProblem) return error.toResponse();
    throw error;
  });
  return { handler: handlerOf((request) => app.fetch(request)), close: () => state.deliveries.close() };
}

const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(stringifyJson(value), { status, headers: { "Content-Type": "application/json", ...headers } });

/** OAuth 2.0 client credentials: the token endpoint that the specification leaves open. */
async function token(c: Context, { accounts }: State): Promise<Response> {
  const answer = accounts.issueToken(c.req.header("authorization"), new URLSearchParams(await c.req.text()));
  if (!("error" in answer)) return json(answer, 200, { "Cache-Control": "no-store" });
  const { status, ...body } = answer;
  return json(body, status, status === 401 ? { "WWW-Authenticate": "Basic" } : {});
}

async function create(c: Context, { accounts, links, parts }: State): Promise<Response> {
  const merchant = accounts.merchantOf(c.req.header("authorization"));
  const body = await jsonBody(c);
  const now = parts.now();
  const link = createLink(body, merchant, parts.ids.newId(), now);
  links.set(link.id, link);
  const response = linkResponse(link, new URL("/pay", c.req.url).href, now);
  parts.observe({ type: "link", link, url: response.url });
  return json(response);
}

async function jsonBody(c: Context): Promise<Json> {
  const [mediaType = ""] = (c.req.header("content-type") ?? "").split(";", 1);
  if (mediaType.trim().toLowerCase() !== "application/json")
    throw new ServiceProblem(415, "Unsupported Media Type", "Content-Type must be application/json");
  const parsed = parseJson(await c.req.text());
  if (!parsed.ok) throw new ServiceProblem(400, "Bad Request", `the body ${parsed.message}`);
  return parsed.value.value;
}

function transaction(c: Context, { accounts, transactions }: State): Response {
  accounts.merchantOf(c.req.header("authorization"));
  const found = transactions.get(c.req.param("uti") ?? "");
  if (found === undefined) throw new ServiceProblem(404, "Not Found", "no transaction has this uti");
  return json(transactionResponse(found.record, found.link));
}

function linkOf(c: Context, { links }: State): Link {
  const link = links.get(c.req.query("r") ?? "");
  if (link === undefined) throw new ServiceProblem(404, "Not Found", "no payment link has this id");
  return link;
}

function view(c: Context, state: State): Response | Promise<Response> {
  const link = linkOf(c, state);
  const now = state.parts.now();
  link.viewedDate ??= now;
  return c.html(checkoutPage(link, state.parts.merchant.merchantName, now));
}

async function pay(c: Context, state: State): Promise<Response> {
  const { parts, transactions } = state;
  const link = linkOf(c, state);
  const attempt = attemptFrom(new URLSearchParams(await c.req.text()));
  const record = takePayment(link, attempt, parts.merchant, parts.ids, parts.now());
  transactions.set(record.uti, { record, link });
  parts.observe({ type: "payment", link, record });
  deliver(record, link, state);
  const settings = link.request.paymentSettings ?? {};
  const returnUrl = record.transApproved ? settings.returnUrl : settings.failureReturnUrl;
  if (c.req.header("accept")?.includes("application/json"))
    return json({ ...record, ...(returnUrl ? { returnUrl } : {}) });
  return returnUrl === undefined ? c.html(resultPage(record)) : c.redirect(returnUrl, 303);
}

/** Events: a webhook goes to the address that fits the outcome, and only where one was supplied. */
function deliver(record: WellFormedRecord, link: Link, { deliveries, parts }: State): void {
  const { callbackUrl, failureCallbackUrl } = link.request.paymentSettings ?? {};
  const url = record.transApproved ? callbackUrl : failureCallbackUrl;
  if (url === undefined) return;
  const body = new TextEncoder().encode(stringifyJson(record));
  deliveries.queue({ id: parts.ids.newId(), linkId: link.id, uti: record.uti, url, body });
}
