/** The pages of a link: its address, its payments and its JSON; and the form for a new one. */
import { html } from "hono/html";
import { LISTENER_URL, SANDBOX_PROFILE } from "../../domain/known-services.ts";
import { withoutPassword } from "../../values/url-passwords.ts";
import { stringifyJson } from "../../values/json.ts";
import { fieldLabel, fieldTitle } from "../../domain/payment-link-field-lookup.ts";
import { VARIABLE_MODE } from "../../domain/payment-link.ts";
import { safeJson } from "../../render/safe-text.ts";
import {
  clipped,
  block,
  askedAction,
  copyable,
  facts,
  folded,
  exactTime,
  timeAgo,
} from "../../pages/components.ts";
import type { Page } from "../../pages/page.ts";
import { createForm, type FormField, type RefusedForm } from "../form.ts";
import { isOpenLink, linkResponse, linkStatusAt } from "../links.ts";
import { chainOf, detailPage } from "./details.ts";
import { dashboardPage } from "./frame.ts";
import { listPanel } from "./list-page.ts";
import { PAYMENT_LIST } from "./lists.ts";
import { controlForm, linkPath, linkTitle, priceOf, type DashboardView } from "./components.ts";

/** Undefined for an unknown link. */
export function linkPage(view: DashboardView, id: string): Page | undefined {
  const link = view.ledger.findLink(id);
  if (link === undefined) return undefined;
  const { invoiceId = "", customerName, description = "", paymentSettings } = link.request;
  const reply = linkResponse(link, view.checkoutUrl, view.now);
  const { url } = reply;
  const status = linkStatusAt(link, view.now);
  const open = isOpenLink(status);
  const path = linkPath(id);
  const expiry = new Date(link.expirationDate);
  return detailPage(view, {
    title: `Link ${clipped(linkTitle(link))}`,
    tab: "/links",
    heading: priceOf(link),
    state: status,
    actions: html`${open ? html`<a class="button" href="${url}">Open checkout</a>` : ""}
    ${
      open
        ? askedAction({
            id: "cancel",
            button: "Cancel link…",
            title: "Cancel this link?",
            subject: clipped(linkTitle(link)),
            text: "Customers can no longer pay it. This cannot be undone.",
            confirm: "Cancel link",
            kind: "danger",
            action: `/sandbox${path}/cancel`,
            back: view.here,
          })
        : ""
    }`,
    chain: chainOf(view, link),
    path,
    summary: facts([
      ["Link", copyable("link", url)],
      ["Id", copyable("id", id)],
      [fieldTitle("description"), clipped(description, 300)],
      [fieldTitle("invoiceId"), clipped(invoiceId, 100)],
      [fieldTitle("customerName"), clipped(customerName, 100)],
      [fieldTitle("expirationDate"), html`${timeAgo(expiry, view.now)}, ${exactTime(expiry, view.now)}`],
      [fieldTitle("paymentSettings.callbackUrl"), shownUrl(paymentSettings?.callbackUrl)],
      [fieldTitle("paymentSettings.failureCallbackUrl"), shownUrl(paymentSettings?.failureCallbackUrl)],
    ]),
    sections: [
      listPanel(view, PAYMENT_LIST, { query: { linkId: id }, nothing: "No payments yet." }),
      html`<section class="panel" aria-label="JSON" id="json-section">
        ${folded("json", "The link as the API returns it", block({ id: "json", title: "Link as JSON", text: safeJson(stringifyJson(reply, 2)) }))}
      </section>`,
    ],
  });
}

const shownUrl = (url: string | undefined): string | undefined => url && clipped(withoutPassword(url), 200);

/** The terms of the request are its names and words: the form is checked by the rules of every request. */
const linkField = (name: string, field: Partial<FormField> = {}): FormField => ({
  name,
  label: fieldTitle(name),
  subject: fieldLabel(name),
  ...field,
});

const linkForm = (terminalId: string): readonly FormField[] => [
  linkField("amount", { value: "10.00", inputmode: "decimal" }),
  linkField("currency", { value: "EUR" }),
  linkField("description"),
  linkField("invoiceId", { hint: "Becomes the payment's reference" }),
  linkField("customerName", { value: "Sandbox Customer" }),
  linkField("expirationDate", {
    subject: "expiry",
    value: "7d",
    hint: "A date and time, or a duration such as 36h or 7d",
  }),
  linkField("terminalId", { value: terminalId }),
  linkField("paymentSettings.callbackUrl", {
    value: LISTENER_URL,
    hint: "Receives a webhook for each approved payment",
  }),
  linkField("paymentSettings.failureCallbackUrl", {
    value: LISTENER_URL,
    hint: "Receives a webhook for each declined or cancelled payment",
  }),
  linkField("linkOptions.mode", {
    label: "Kind",
    options: [
      ["", "One-time: a single payment"],
      [VARIABLE_MODE, "Reusable: many payments"],
    ],
  }),
];

/** The form as it is filled in at first. */
export const sampleForm = (terminalId: string): URLSearchParams =>
  new URLSearchParams(Object.fromEntries(linkForm(terminalId).map(({ name, value = "" }) => [name, value])));

export function newLinkPage(view: DashboardView, refused?: RefusedForm): Page {
  const fields = linkForm(view.terminalId);
  const form = createForm(fields, refused);
  return dashboardPage(view, {
    title: "New link",
    invalid: refused !== undefined,
    tab: "/links",
    live: false,
    content: html`${refused === undefined ? "" : form.summary(`The link was not created: ${refused.problem.message}`)}
    ${controlForm(
      view,
      "/sandbox/links",
      html`<div class="panel new-link">
        ${fields.map(form.field)}
        <p class="hint whole">
          For a subscription, bounds and details of the customer:
          <code>paylink create -p ${SANDBOX_PROFILE}</code>
        </p>
        <div class="actions whole">
          <button class="primary">Create link</button>
          <a class="button" href="/links">Back to links</a>
        </div>
      </div>`,
    )}`,
  });
}
