/** The checkout's addresses: the link's page, the payment that its form posts, and the result. */
import { SAMPLE_OUTCOMES } from "../../domain/outcome.ts";
import { cardFor, testCard, TEST_CARDS } from "../../domain/test-cards.ts";
import type { Context, Hono } from "hono";
import { parseWebAddress } from "../../domain/addresses.ts";
import { outcomeOf, textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { requireSameOrigin } from "../access.ts";
import { CARD_FIELDS, CUSTOMER_FIELDS, filledIn } from "../customer.ts";
import type { Link } from "../store/rows.ts";
import { isOpen, statusOf } from "../links.ts";
import { fileReply, htmlReply, STYLE } from "../page.ts";
import { acceptPayment, type PaymentInput } from "../payments.ts";
import { accepts, formBody, jsonReply, ServiceProblem } from "../replies.ts";
import type { Service } from "../service.ts";
import { checkoutPage, closedPage, receiptPage, RETURN_DELAY, unknownPage } from "./pages.ts";
import { CHECKOUT_STYLE } from "./style.ts";

export function checkoutRoutes(app: Hono, service: Service): void {
  app.get("/pay", (c) => viewLink(c, service));
  app.post("/pay", (c) => payLink(c, service));
  app.get("/pay/result", (c) => viewResult(c, service));
  app.get("/checkout.css", () => fileReply(STYLE + CHECKOUT_STYLE, "text/css"));
}

const linkFromQuery = (c: Context, { ledger }: Service): Link | undefined =>
  ledger.findLink(c.req.query("r") ?? "");

async function viewLink(c: Context, service: Service): Promise<Response> {
  const { ledger, clock } = service;
  const link = linkFromQuery(c, service);
  if (link === undefined) return htmlReply(unknownPage(), 404);
  if (link.viewedDate === null) {
    await ledger.write(() => ledger.saveLink({ ...link, viewedDate: clock.now() }));
  }
  return linkPage(link, service);
}

function linkPage(link: Link, { merchant, clock, newToken }: Service): Promise<Response> {
  const { merchantName } = merchant;
  const status = statusOf(link, clock.now());
  return isOpen(status)
    ? htmlReply(checkoutPage({ link, merchantName, token: newToken() }))
    : htmlReply(closedPage(status, merchantName), 410);
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
  const record = await acceptPayment(service, linkId, paymentInputFromForm(form), formToken(form));
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
  if (link === undefined) return htmlReply(unknownPage(), 404);
  if (problem.status === 409) return c.redirect(checkoutPath(link.id), 303);
  const { merchant, newToken } = service;
  const { merchantName } = merchant;
  // A refused form keeps its token: it has paid nothing, and a second copy of it cannot pay twice.
  const token = formToken(entered) ?? newToken();
  const content = checkoutPage({ link, merchantName, token, refused: { entered, problem } });
  return htmlReply(content, 422);
}

/** `stay` is in the query once the customer has turned off the time limit. */
function viewResult(c: Context, { ledger, clock, merchant }: Service): Response | Promise<Response> {
  const { t = "", stay } = c.req.query();
  const payment = ledger.findPayment(t);
  const link = payment && ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined) return htmlReply(unknownPage(), 404);
  const open = isOpen(statusOf(link, clock.now()));
  const url = returnUrlFor(payment.record, link);
  const leaves = url !== undefined && stay === undefined;
  const content = receiptPage({
    payment,
    link,
    merchantName: merchant.merchantName,
    payAgain: open ? checkoutPath(link.id) : undefined,
    returnLink: url === undefined ? undefined : { url, stay: leaves ? `${resultPath(t)}&stay=1` : undefined },
  });
  return htmlReply(content, 200, leaves ? { Refresh: `${RETURN_DELAY}; url=${url}` } : {});
}

/** Throws a 400 problem for a form without a card and an outcome. */
function paymentInputFromForm(form: URLSearchParams): PaymentInput {
  const amount = entered(form, "amount");
  const reference = entered(form, "reference");
  return {
    ...paidWith(form),
    ...(amount === "" ? {} : { amount }),
    ...(reference === "" ? {} : { reference }),
    customer: filledIn(allEntered(form, CUSTOMER_FIELDS)),
  };
}

const entered = (form: URLSearchParams, name: string): string => form.get(name)?.trim() ?? "";

const allEntered = (form: URLSearchParams, fields: object): Record<string, string> =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, entered(form, name)]));

/** By the outcome or the card of the pressed button, or by the fields of a typed card. */
function paidWith(form: URLSearchParams): Pick<PaymentInput, "card" | "typed"> {
  const outcome = SAMPLE_OUTCOMES.find((choice) => choice === form.get("outcome"));
  if (outcome !== undefined) return { card: cardFor(outcome) };
  const card = testCard(form.get("card") ?? "");
  if (card !== undefined) return { card };
  // Any other card is refused, so it does not matter which one stands for it.
  if (form.has("number"))
    return { card: testCard(entered(form, "number")) ?? TEST_CARDS[0], typed: allEntered(form, CARD_FIELDS) };
  const [at, choices] = form.has("card")
    ? ["card", TEST_CARDS.map(({ name }) => name)]
    : ["outcome", SAMPLE_OUTCOMES];
  const message = `must be one of ${choices.join(", ")}`;
  throw new ServiceProblem(400, `${at} ${message}`, [{ at, message }]);
}

/** The token of the rendered form, which pays once; null for a request of a program, which has none. */
function formToken(form: URLSearchParams): string | null {
  const token = form.get("form") ?? "";
  return /^[\w-]{1,64}$/.test(token) ? token : null;
}
