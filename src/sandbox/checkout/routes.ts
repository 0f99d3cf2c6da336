/** The checkout's addresses: the link's page, the payment that its form posts, and the result. */
import type { Context, Hono } from "hono";
import { parseWebAddress } from "../../values/addresses.ts";
import { outcomeOf, type TransactionRecord } from "../../domain/transaction.ts";
import baseStyle from "../../pages/browser/base.css?raw";
import checkoutStyle from "../../pages/browser/checkout.css?raw";
import checkoutScript from "../../pages/browser/checkout.js?raw";
import { fileReply, htmlReply } from "../../pages/page.ts";
import { CHECKOUT_PATH } from "../access.ts";
import type { RefusedForm } from "../form.ts";
import { findLink, isOpenLink, linkStatusAt, linkUrl } from "../links.ts";
import { acceptPayment, checkPayment, leftToPay, paymentInputFromForm } from "../payments.ts";
import { accepts, formBody, jsonReply, ServiceProblem } from "../replies.ts";
import type { SandboxRuntime } from "../runtime.ts";
import type { Link } from "../store/ledger-rows.ts";
import { closedPage, receiptPage, unknownPage } from "./messages.ts";
import { declineReason, resultPath, sandboxStrip } from "./components.ts";
import { checkoutPage, type Declined } from "./payment-form.ts";

export function checkoutRoutes(app: Hono, runtime: SandboxRuntime): void {
  app.get(CHECKOUT_PATH, (c) => viewLink(c, runtime));
  app.post(CHECKOUT_PATH, (c) => submitPayment(c, runtime));
  app.get("/pay/result", (c) => viewResult(c, runtime));
  app.get("/checkout.css", () => fileReply(baseStyle + checkoutStyle, "text/css"));
  app.get("/checkout.js", () => fileReply(checkoutScript, "text/javascript"));
}

const linkFromQuery = (c: Context, { ledger }: SandboxRuntime): Link | undefined =>
  ledger.findLink(c.req.query("r") ?? "");

function viewLink(c: Context, runtime: SandboxRuntime): Promise<Response> {
  const { ledger, clock } = runtime;
  const link = linkFromQuery(c, runtime);
  if (link === undefined) return htmlReply(unknownPage(), 404);
  const { merchantName } = runtime.merchant;
  const status = linkStatusAt(link, clock.now());
  if (!isOpenLink(status)) return htmlReply(closedPage(status, merchantName), 410);
  if (link.viewedDate === null && isByCustomer(c))
    ledger.write(() => ledger.saveLink({ ...link, viewedDate: clock.now() }));
  return formPage(link, runtime);
}

/** Not the HEAD of a link preview, nor a page that a browser or a messenger reads before anybody wants it. */
const isByCustomer = (c: Context): boolean =>
  c.req.method === "GET" &&
  !["Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"].some((name) =>
    /prefetch|prerender|preview/i.test(c.req.header(name) ?? ""),
  );

/** The form as it was entered and refused, or declined; else an empty one. */
function formPage(
  link: Link,
  { merchant: { merchantName }, newId, ledger }: SandboxRuntime,
  shown: { readonly refused?: RefusedForm; readonly declined?: Declined } = {},
  status = 200,
): Promise<Response> {
  // A refused form keeps its token: it has paid nothing, and a second copy of it cannot pay twice.
  const token = (shown.refused && formToken(shown.refused.entered)) ?? newId();
  return htmlReply(
    checkoutPage({ link, left: leftToPay(link, ledger), merchantName, token, ...shown }),
    status,
  );
}

/** Where the customer returns to after a payment; undefined if the link has no address for the outcome. */
function returnUrlFor(record: TransactionRecord, { request }: Link): string | undefined {
  const { returnUrl, failureReturnUrl } = request.paymentSettings ?? {};
  const url = outcomeOf(record) === "APPROVED" ? returnUrl : failureReturnUrl;
  return parseWebAddress(url ?? "")?.href;
}

async function submitPayment(c: Context, runtime: SandboxRuntime): Promise<Response> {
  const form = await formBody(c);
  if (accepts(c, "application/json")) return payByProgram(c, form, runtime);
  try {
    return await payInBrowser(c, form, runtime);
  } catch (error) {
    const link = linkFromQuery(c, runtime);
    if (!(error instanceof ServiceProblem)) throw error;
    if (link === undefined) return htmlReply(unknownPage(), 404);
    if (error.status === 409) return c.redirect(linkUrl(CHECKOUT_PATH, link.id), 303);
    if (!form.has("check"))
      return formPage(link, runtime, { refused: { entered: form, problem: error } }, 422);
    return checkedPage(form, link, runtime, error);
  }
}

/** The form with what is wrong in the fields that the customer has left, which the script names: it shows those fields. */
function checkedPage(
  entered: URLSearchParams,
  link: Link,
  runtime: SandboxRuntime,
  refusal?: ServiceProblem,
): Promise<Response> {
  const errors = refusal?.errors.filter(({ at }) => entered.getAll("check").includes(at));
  return formPage(link, runtime, { refused: { entered, problem: new ServiceProblem(422, "", errors) } });
}

/** The record, with the address that a browser would return to. */
function payByProgram(c: Context, form: URLSearchParams, runtime: SandboxRuntime): Response {
  const input = paymentInputFromForm(form);
  const { record, linkId } = acceptPayment(runtime, c.req.query("r") ?? "", input, formToken(form));
  const returnUrl = returnUrlFor(record, findLink(runtime.ledger, linkId));
  return jsonReply({ ...record, ...(returnUrl === undefined ? {} : { returnUrl }) });
}

async function payInBrowser(c: Context, form: URLSearchParams, runtime: SandboxRuntime): Promise<Response> {
  const { ledger, clock } = runtime;
  const input = paymentInputFromForm(form);
  const link = findLink(ledger, c.req.query("r") ?? "");
  if (form.has("check")) {
    checkPayment(link, input, ledger, clock.now());
    return checkedPage(form, link, runtime);
  }
  const payment = acceptPayment(runtime, link.id, input, formToken(form));
  const { uti, record } = payment;
  const isAgainOpen = isOpenLink(linkStatusAt(findLink(ledger, link.id), clock.now()));
  if (isAgainOpen && outcomeOf(record) === "DECLINED") {
    const returnUrl = returnUrlFor(record, link);
    const strip = sandboxStrip(payment, runtime);
    return formPage(link, runtime, {
      declined: { entered: form, uti, reason: declineReason(record), returnUrl, strip },
    });
  }
  // It stays on this origin: browsers apply the page's form-action to every redirect of a form.
  return c.redirect(resultPath(uti), 303);
}

function viewResult(c: Context, runtime: SandboxRuntime): Promise<Response> {
  const { ledger, clock, merchant } = runtime;
  const payment = ledger.findPayment(c.req.query("t") ?? "");
  const link = payment && ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined) return htmlReply(unknownPage(), 404);
  const content = receiptPage({
    payment,
    link,
    merchantName: merchant.merchantName,
    left: leftToPay(link, ledger),
    payAgain: isOpenLink(linkStatusAt(link, clock.now())) ? linkUrl(CHECKOUT_PATH, link.id) : undefined,
    returnUrl: returnUrlFor(payment.record, link),
    strip: sandboxStrip(payment, runtime),
  });
  return htmlReply(content);
}

/** The token of the rendered form, which pays once; null for a request of a program, which has none. */
function formToken(form: URLSearchParams): string | null {
  const token = form.get("form") ?? "";
  return /^[\w-]{1,64}$/.test(token) ? token : null;
}
