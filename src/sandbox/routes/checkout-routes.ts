/** The checkout's addresses: the link's page, the payment that its form posts, and the result. */
import type { Context, Hono } from "hono";
import { outcomeOf, textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { parseWebAddress } from "../../domain/addresses.ts";
import { isOpen, statusOf } from "../links.ts";
import type { Link } from "../ledger.ts";
import { submitForm } from "../payments.ts";
import { formToken, paymentInputFromForm } from "../pages/checkout-form.ts";
import { checkoutPage } from "../pages/checkout-page.ts";
import { CHECKOUT_STYLE } from "../pages/checkout-style.ts";
import { closedPage, unknownPage } from "../pages/message-pages.ts";
import { pageHeaders } from "../pages/page-frame.ts";
import { receiptPage, RETURN_DELAY } from "../pages/receipt-page.ts";
import { STYLE } from "../pages/style.ts";
import { accepts, formBody, jsonReply, ServiceProblem } from "../replies.ts";
import type { Service } from "../service.ts";
import { requireSameOrigin } from "../access.ts";

export function checkoutRoutes(app: Hono, service: Service): void {
  app.get("/pay", (c) => viewLink(c, service));
  app.post("/pay", (c) => payLink(c, service));
  app.get("/pay/result", (c) => viewResult(c, service));
  app.get("/checkout.css", () => {
    const headers = { ...pageHeaders(), "Content-Type": "text/css; charset=utf-8" };
    return new Response(STYLE + CHECKOUT_STYLE, { headers });
  });
}

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
    ? c.html(checkoutPage({ link, merchantName, token: parts.newToken() }), 200, pageHeaders())
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
  const form = await formBody(c);
  try {
    return await acceptForm(c, form, service);
  } catch (error) {
    if (accepts(c, "application/json") || !(error instanceof ServiceProblem)) throw error;
    return refuseForm(c, form, error, service);
  }
}

async function acceptForm(c: Context, form: URLSearchParams, service: Service): Promise<Response> {
  const linkId = c.req.query("r") ?? "";
  const record = await submitForm(service, linkId, paymentInputFromForm(form), formToken(form));
  const link = linkFromQuery(c, service);
  const returnUrl = link && returnUrlFor(record, link);
  if (accepts(c, "application/json"))
    return jsonReply({ ...record, ...(returnUrl === undefined ? {} : { returnUrl }) });
  // It stays on this origin: browsers apply the page's form-action to every redirect of a form.
  return c.redirect(resultPath(textOf(record, "uti") ?? ""), 303);
}

const checkoutPath = (linkId: string): string => `/pay?r=${encodeURIComponent(linkId)}`;
const resultPath = (uti: string): string => `/pay/result?t=${encodeURIComponent(uti)}`;

/** Shows the form again with the entered values and the problems, or says why the link can no longer be paid. */
function refuseForm(
  c: Context,
  entered: URLSearchParams,
  problem: ServiceProblem,
  service: Service,
): Response | Promise<Response> {
  const link = linkFromQuery(c, service);
  if (link === undefined) return c.html(unknownPage(), 404, pageHeaders());
  if (problem.status === 409) return c.redirect(checkoutPath(link.id), 303);
  const { merchant, newToken } = service.parts;
  const { merchantName } = merchant;
  // A refused form keeps its token: it has paid nothing, and a second copy of it cannot pay twice.
  const token = formToken(entered) ?? newToken();
  const content = checkoutPage({ link, merchantName, token, entered, problems: problem.errors });
  return c.html(content, 422, pageHeaders());
}

/** `stay` is in the query once the customer has turned off the time limit. */
function viewResult(c: Context, { parts }: Service): Response | Promise<Response> {
  const { t = "", stay } = c.req.query();
  const payment = parts.ledger.findPayment(t);
  const link = payment && parts.ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined) return c.html(unknownPage(), 404, pageHeaders());
  const open = isOpen(statusOf(link, parts.clock.now()));
  const url = returnUrlFor(payment.record, link);
  const leaves = url !== undefined && stay === undefined;
  const content = receiptPage({
    payment,
    link,
    merchantName: parts.merchant.merchantName,
    payAgain: open ? checkoutPath(link.id) : undefined,
    returnLink: url === undefined ? undefined : { url, stay: leaves ? `${resultPath(t)}&stay=1` : undefined },
  });
  return c.html(content, 200, {
    ...pageHeaders(),
    ...(leaves ? { Refresh: `${RETURN_DELAY}; url=${url}` } : {}),
  });
}
