/** The dashboard's addresses: its lists, details, forms and confirmations, and the files of its pages. */
import type { Context, Hono } from "hono";
import dashboardScript from "../browser/dashboard.js?raw";
import { confirmPage, notFoundPage } from "../pages/dashboard-frame.ts";
import { deliveriesPage, linksPage, paymentsPage } from "../pages/dashboard-lists.ts";
import { deliveryPage } from "../pages/dashboard-delivery.ts";
import { newLinkPage } from "../pages/dashboard-new-link.ts";
import { address, clipped, linkPath, type View } from "../pages/dashboard-parts.ts";
import { paymentPage } from "../pages/dashboard-payment.ts";
import { DASHBOARD_STYLE } from "../pages/dashboard-style.ts";
import { linkTitle } from "../pages/dashboard-values.ts";
import { searchPage } from "../pages/dashboard-search.ts";
import { pageHeaders } from "../pages/page-frame.ts";
import { STYLE } from "../pages/style.ts";
import type { Service } from "../service.ts";
import {
  chainOf,
  deliverySource,
  htmlReply,
  linkDetail,
  linkSource,
  listParts,
  localPath,
  newestAttempts,
  paymentSource,
  shownPage,
  viewOf,
} from "./dashboard-views.ts";

export function dashboardRoutes(app: Hono, service: Service): void {
  const { ledger } = service.parts;
  const view = (c: Context, here?: string): View => viewOf(c, service, c.req.query("key"), here);
  app.get("/", (c) => c.redirect(address({ key: c.req.query("key") }, "/deliveries")));
  app.get("/deliveries", (c) =>
    htmlReply(deliveriesPage(view(c), listParts(c, service, deliverySource(ledger)))),
  );
  app.get("/payments", (c) => {
    const shown = view(c);
    return htmlReply(paymentsPage(shown, listParts(c, service, paymentSource(ledger, shown.now))));
  });
  app.get("/links", (c) => htmlReply(linksPage(view(c), listParts(c, service, linkSource(ledger)))));
  app.get("/search", (c) => search(c, service, view(c)));
  app.get("/links/new", (c) => {
    const terminalId = service.parts.merchant.terminals[0] ?? "";
    return htmlReply(newLinkPage(view(c), { terminalId }));
  });
  app.get("/links/:id", (c) => linkDetail(c, service, { id: c.req.param("id"), view: view(c) }));
  app.get("/links/:id/cancel", (c) => confirmCancel(c, service, view(c)));
  app.get("/payments/:uti", (c) => paymentDetail(c, service, view(c)));
  app.get("/deliveries/:id", (c) => deliveryDetail(c, service, view(c)));
  app.get("/deliveries/:id/body", (c) => downloadBody(c, service, view(c)));
  app.get("/rotate-key", (c) => confirmRotation(c, view(c)));
  app.get("/style.css", () => file(STYLE + DASHBOARD_STYLE, "text/css; charset=utf-8"));
  app.get("/dashboard.js", () => file(dashboardScript, "text/javascript; charset=utf-8"));
}

const file = (text: string, type: string): Response =>
  new Response(text, { headers: { ...pageHeaders(), "Content-Type": type } });

/** Rows of each kind that a search shows. */
const FOUND = 10;

function search(c: Context, { parts }: Service, view: View) {
  const { ledger } = parts;
  const { text = "" } = c.req.query();
  const query = { text, limit: FOUND, now: view.now };
  const content = searchPage(view, {
    text,
    deliveries: shownPage(ledger.deliveries(query), deliverySource(ledger).show),
    payments: shownPage(ledger.payments(query), paymentSource(ledger, view.now).show),
    links: ledger.links(query),
  });
  return htmlReply(content);
}

function confirmCancel(c: Context, { parts }: Service, view: View) {
  const link = parts.ledger.findLink(c.req.param("id") ?? "");
  if (link === undefined) return htmlReply(notFoundPage(view, "link"), 404);
  const path = linkPath(link.id);
  const content = confirmPage(view, {
    title: "Cancel this link?",
    subject: clipped(linkTitle(link)),
    text: "Customers can no longer pay it. This cannot be undone.",
    action: `/sandbox${path}/cancel`,
    button: "Cancel link",
    back: path,
  });
  return htmlReply(content);
}

function confirmRotation(c: Context, view: View) {
  const content = confirmPage(view, {
    title: "Rotate the signing key?",
    text: "Webhooks will be signed with a new key. The old key stays published for a day.",
    action: "/sandbox/rotate-key",
    button: "Rotate key",
    back: localPath(c.req.query("back")),
  });
  return htmlReply(content);
}

function paymentDetail(c: Context, service: Service, view: View) {
  const { ledger } = service.parts;
  const payment = ledger.findPayment(c.req.param("uti") ?? "");
  const link = payment && ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined) return htmlReply(notFoundPage(view, "payment"), 404);
  const deliveries = ledger.deliveries({ uti: payment.uti, limit: FOUND, now: view.now });
  const content = paymentPage(view, {
    chain: chainOf(service, link, { payment }),
    payment,
    deliveries: deliveries.rows.map(deliverySource(ledger).show),
  });
  return htmlReply(content);
}

function deliveryDetail(c: Context, service: Service, view: View) {
  const { ledger } = service.parts;
  const delivery = ledger.findDelivery(c.req.param("id") ?? "");
  const link = delivery && ledger.findLink(delivery.linkId);
  if (delivery === undefined || link === undefined) return htmlReply(notFoundPage(view, "delivery"), 404);
  const attempts = newestAttempts(ledger, delivery);
  const number = Number(c.req.query("attempt"));
  const content = deliveryPage(view, {
    chain: chainOf(service, link, { payment: ledger.findPayment(delivery.uti), delivery }),
    delivery,
    attempts,
    attempt: (Number.isSafeInteger(number) && ledger.findAttempt(delivery.id, number)) || attempts[0],
  });
  return htmlReply(content);
}

/** The exact bytes of a webhook's body, as a file: a browser must not show them as a page. */
function downloadBody(c: Context, { parts }: Service, view: View) {
  const delivery = parts.ledger.findDelivery(c.req.param("id") ?? "");
  if (delivery === undefined) return htmlReply(notFoundPage(view, "delivery"), 404);
  const headers = { ...pageHeaders(), "Content-Disposition": `attachment; filename="webhook.json"` };
  return new Response(Buffer.from(delivery.body), {
    headers: { ...headers, "Content-Type": "application/octet-stream" },
  });
}
