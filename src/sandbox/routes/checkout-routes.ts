/** The checkout's addresses: the link's page, the payment that its form posts, and the result. */
import type { Context, Hono } from "hono";
import { outcomeOf, type TransactionRecord } from "../../domain/transaction.ts";
import { parseWebAddress } from "../../domain/web-address.ts";
import { isOpen, statusOf, type Link } from "../links.ts";
import { acceptPayment } from "../operations.ts";
import { checkoutPage, paymentInputFromForm } from "../pages/checkout-page.ts";
import { CHECKOUT_STYLE } from "../pages/checkout-style.ts";
import { closedPage, resultPage, unknownPage } from "../pages/message-pages.ts";
import { pageHeaders } from "../pages/page-frame.ts";
import { STYLE } from "../pages/style.ts";
import { ServiceProblem } from "../service-problem.ts";
import type { Service } from "../service.ts";
import { jsonReply } from "./api-routes.ts";
import { requireSameOrigin } from "./request-checks.ts";

export function checkoutRoutes(app: Hono, service: Service): void {
  app.get("/pay", (c) => viewLink(c, service));
  app.post("/pay", (c) => payLink(c, service));
  app.get("/pay/result", (c) => viewResult(c, service));
  app.get("/checkout.css", () => {
    const headers = { ...pageHeaders(), "Content-Type": "text/css; charset=utf-8" };
    return new Response(STYLE + CHECKOUT_STYLE, { headers });
  });
}

const acceptsJson = (c: Context): boolean => c.req.header("accept")?.includes("application/json") ?? false;

const linkFromQuery = (c: Context, { parts }: Service): Link | undefined =>
  parts.ledger.findLink(c.req.query("r") ?? "");

async function viewLink(c: Context, service: Service): Promise<Response> {
  const { ledger, clock } = service.parts;
  const link = linkFromQuery(c, service);
  if (link === undefined) return c.html(unknownPage(), 404, pageHeaders());
  if (link.viewedDate === null) {
    await ledger.write(() => ledger.saveLink({ ...link, viewedDate: clock.now() }));
  }
  return linkPage(c, link, service);
}

function linkPage(c: Context, link: Link, { parts }: Service): Response | Promise<Response> {
  const { merchantName } = parts.merchant;
  const status = statusOf(link, parts.clock.now());
  return isOpen(status)
    ? c.html(checkoutPage({ link, merchantName }), 200, pageHeaders())
    : c.html(closedPage(status, merchantName), 410, pageHeaders());
}

/** Where the customer returns to after a payment; undefined if the link has no address for the outcome. */
function returnUrlFor(record: TransactionRecord, { request }: Link): string | undefined {
  const { returnUrl, failureReturnUrl } = request.paymentSettings ?? {};
  const url = outcomeOf(record) === "APPROVED" ? returnUrl : failureReturnUrl;
  return parseWebAddress(url ?? "")?.href;
}

async function payLink(c: Context, service: Service): Promise<Response> {
  requireSameOrigin(c);
  const form = new URLSearchParams(await c.req.text());
  try {
    return await acceptForm(c, form, service);
  } catch (error) {
    if (acceptsJson(c) || !(error instanceof ServiceProblem)) throw error;
    return refuseForm(c, form, error, service);
  }
}

async function acceptForm(c: Context, form: URLSearchParams, service: Service): Promise<Response> {
  const record = await acceptPayment(service, c.req.query("r") ?? "", paymentInputFromForm(form));
  const link = linkFromQuery(c, service);
  const returnUrl = link && returnUrlFor(record, link);
  if (acceptsJson(c)) return jsonReply({ ...record, ...(returnUrl === undefined ? {} : { returnUrl }) });
  // A redirect, so that reloading the next page does not pay again. It stays on this origin: browsers apply the page's
  // form-action to it.
  return c.redirect(`/pay/result?t=${encodeURIComponent(record.uti)}`, 303);
}

/** The form again, with the entered values and the problems; or the reason why the link has no form any more. */
function refuseForm(
  c: Context,
  entered: URLSearchParams,
  problem: ServiceProblem,
  service: Service,
): Response | Promise<Response> {
  const link = linkFromQuery(c, service);
  if (link === undefined) return c.html(unknownPage(), 404, pageHeaders());
  if (problem.status === 409) return linkPage(c, link, service);
  const { merchantName } = service.parts.merchant;
  return c.html(checkoutPage({ link, merchantName, entered, problems: problem.errors }), 422, pageHeaders());
}

function viewResult(c: Context, { parts }: Service): Response | Promise<Response> {
  const payment = parts.ledger.findPayment(c.req.query("t") ?? "");
  const link = payment && parts.ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined) return c.html(unknownPage(), 404, pageHeaders());
  const open = isOpen(statusOf(link, parts.clock.now()));
  const payAgain = open ? `/pay?r=${encodeURIComponent(link.id)}` : undefined;
  const { merchantName } = parts.merchant;
  const returnUrl = returnUrlFor(payment.record, link);
  return c.html(
    resultPage({ record: payment.record, merchantName, payAgain, returnUrl }),
    200,
    pageHeaders(),
  );
}
