/** The checkout's addresses: the link's page, the payment that its form posts, and the result. */
import type { Context, Hono } from "hono";
import { parseWebAddress } from "../domain/web-address.ts";
import { json } from "./api-routes.ts";
import { attemptFrom, checkoutPage } from "./checkout.ts";
import { sameOrigin } from "./guard.ts";
import { statusOf, type Link } from "./links.ts";
import { pageHeaders } from "./page.ts";
import { ServiceProblem } from "./problem.ts";
import { acceptPayment, type Service } from "./service.ts";
import { closedPage, resultPage, unknownPage } from "./statements.ts";

export function checkoutRoutes(app: Hono, service: Service): void {
  app.get("/pay", (c) => view(c, service));
  app.post("/pay", (c) => pay(c, service));
  app.get("/pay/result", (c) => result(c, service));
}

const wantsJson = (c: Context): boolean => c.req.header("accept")?.includes("application/json") ?? false;

const linkOf = (c: Context, { parts }: Service): Link | undefined =>
  parts.ledger.findLink(c.req.query("r") ?? "");

async function view(c: Context, service: Service): Promise<Response> {
  const { ledger, clock } = service.parts;
  const link = linkOf(c, service);
  if (link === undefined) return c.html(unknownPage(), 404, pageHeaders());
  if (link.viewedDate === null) {
    await ledger.write(() => ledger.saveLink({ ...link, viewedDate: clock.now() }));
  }
  return linkPage(c, link, service);
}

function linkPage(c: Context, link: Link, { parts }: Service): Response | Promise<Response> {
  const { merchantName } = parts.merchant;
  const status = statusOf(link, parts.clock.now());
  return status === "active"
    ? c.html(checkoutPage({ link, merchantName }), 200, pageHeaders(returnOrigins(link)))
    : c.html(closedPage(status, merchantName), 410, pageHeaders());
}

/** Where the form's answer may send the customer. */
function returnOrigins({ request }: Link): string[] {
  const { returnUrl, failureReturnUrl } = request.paymentSettings ?? {};
  return [returnUrl, failureReturnUrl].flatMap((url) => parseWebAddress(url ?? "")?.origin ?? []);
}

async function pay(c: Context, service: Service): Promise<Response> {
  sameOrigin(c);
  const form = new URLSearchParams(await c.req.text());
  try {
    return await paid(c, form, service);
  } catch (error) {
    if (wantsJson(c) || !(error instanceof ServiceProblem)) throw error;
    return refused(c, form, error, service);
  }
}

async function paid(c: Context, form: URLSearchParams, service: Service): Promise<Response> {
  const record = await acceptPayment(service, c.req.query("r") ?? "", attemptFrom(form));
  const { returnUrl, failureReturnUrl } = linkOf(c, service)?.request.paymentSettings ?? {};
  const onwards = record.transApproved ? returnUrl : failureReturnUrl;
  if (wantsJson(c)) return json({ ...record, ...(onwards === undefined ? {} : { returnUrl: onwards }) });
  // A redirect either way: reloading what follows pays nothing again.
  return c.redirect(onwards ?? `/pay/result?t=${encodeURIComponent(record.uti)}`, 303);
}

/** The form once more, with what was entered and what is wrong with it; or why there is no form any more. */
function refused(
  c: Context,
  entered: URLSearchParams,
  problem: ServiceProblem,
  service: Service,
): Response | Promise<Response> {
  const link = linkOf(c, service);
  if (link === undefined) return c.html(unknownPage(), 404, pageHeaders());
  if (problem.status === 409) return linkPage(c, link, service);
  const { merchantName } = service.parts.merchant;
  return c.html(
    checkoutPage({ link, merchantName, entered, problems: problem.errors }),
    422,
    pageHeaders(returnOrigins(link)),
  );
}

function result(c: Context, { parts }: Service): Response | Promise<Response> {
  const payment = parts.ledger.findPayment(c.req.query("t") ?? "");
  const link = payment && parts.ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined) return c.html(unknownPage(), 404, pageHeaders());
  const open = statusOf(link, parts.clock.now()) === "active";
  const again = open ? `/pay?r=${encodeURIComponent(link.id)}` : undefined;
  return c.html(resultPage(payment.record, parts.merchant.merchantName, again), 200, pageHeaders());
}
