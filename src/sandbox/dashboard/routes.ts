/** The dashboard's addresses: its lists, details, forms and confirmations, and the files of its pages. */
import type { Context, Hono } from "hono";
import dashboardScript from "../browser/dashboard.js?raw";
import { fileReply, htmlReply, pageHeaders, STYLE, type Page } from "../page.ts";
import type { Service } from "../service.ts";
import { deliveryPage } from "./delivery.ts";
import { paymentPage } from "./details.ts";
import { confirmPage, notFoundPage } from "./frame.ts";
import { linkPage, newLinkPage } from "./link.ts";
import { DELIVERIES, LINKS, listPage, PAYMENTS, searchPage } from "./lists.ts";
import { address, clipped, linkPath, linkTitle, localPath, viewOf, type View } from "./parts.ts";
import { DASHBOARD_STYLE } from "./style.ts";

export function dashboardRoutes(app: Hono, service: Service): void {
  const view = (c: Context): View => viewOf(c, service, c.req.query("key"));
  app.get("/", (c) => c.redirect(address({ key: c.req.query("key") }, "/deliveries")));
  app.get("/deliveries", (c) => htmlReply(listPage(view(c), DELIVERIES, c.req.query())));
  app.get("/payments", (c) => htmlReply(listPage(view(c), PAYMENTS, c.req.query())));
  app.get("/links", (c) => htmlReply(listPage(view(c), LINKS, c.req.query())));
  app.get("/search", (c) => htmlReply(searchPage(view(c), c.req.query("text") ?? "")));
  app.get("/links/new", (c) => htmlReply(newLinkPage(view(c))));
  const detail = (
    what: string,
    path: string,
    show: (view: View, id: string, c: Context) => Page | undefined,
  ) =>
    app.get(path, (c) => {
      const shown = view(c);
      return detailReply(shown, what, show(shown, c.req.param("id") ?? "", c));
    });
  detail("link", "/links/:id", (shown, id) => linkPage(shown, id));
  detail("link", "/links/:id/cancel", confirmCancel);
  detail("payment", "/payments/:id", paymentPage);
  detail("delivery", "/deliveries/:id", (shown, id, c) =>
    deliveryPage(shown, id, Number(c.req.query("attempt"))),
  );
  app.get("/deliveries/:id/body", (c) => downloadBody(view(c), c.req.param("id")));
  app.get("/rotate-key", (c) => htmlReply(confirmRotation(view(c), localPath(c.req.query("back")))));
  app.get("/style.css", () => fileReply(STYLE + DASHBOARD_STYLE, "text/css"));
  app.get("/dashboard.js", () => fileReply(dashboardScript, "text/javascript"));
}

/** A page, or that there is no such thing. */
export const detailReply = (
  view: View,
  what: string,
  page: Page | undefined,
  status = 200,
): Promise<Response> =>
  page === undefined ? htmlReply(notFoundPage(view, what), 404) : htmlReply(page, status);

function confirmCancel(view: View, id: string): Page | undefined {
  const link = view.ledger.findLink(id);
  if (link === undefined) return undefined;
  const path = linkPath(id);
  return confirmPage(view, {
    title: "Cancel this link?",
    subject: clipped(linkTitle(link)),
    text: "Customers can no longer pay it. This cannot be undone.",
    action: `/sandbox${path}/cancel`,
    button: "Cancel link",
    back: path,
  });
}

const confirmRotation = (view: View, back: string): Page =>
  confirmPage(view, {
    title: "Rotate the signing key?",
    text: "Webhooks will be signed with a new key. The old key stays published for a day.",
    action: "/sandbox/rotate-key",
    button: "Rotate key",
    back,
  });

/** The exact bytes of a webhook's body, as a file: a browser must not show them as a page. */
function downloadBody(view: View, id: string): Response | Promise<Response> {
  const delivery = view.ledger.findDelivery(id);
  if (delivery === undefined) return htmlReply(notFoundPage(view, "delivery"), 404);
  const headers = { ...pageHeaders(), "Content-Disposition": `attachment; filename="webhook.json"` };
  return new Response(Buffer.from(delivery.body), {
    headers: { ...headers, "Content-Type": "application/octet-stream" },
  });
}
