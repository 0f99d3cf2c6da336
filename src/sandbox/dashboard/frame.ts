/** The frame of the dashboard's pages: search, tabs, the clock, the signing key and the connection. */
import { plural, formatCount } from "../../values/plural.ts";
import { html } from "hono/html";
import { badge, clipped, askedAction, datedMoment, exactTime } from "../../pages/components.ts";
import { count, notFoundContent, type Notices, workPage, type WorkPage } from "../../pages/frame.ts";
import type { Page } from "../../pages/page.ts";
import { SANDBOX_FRAME } from "../banner.ts";
import { controlForm, HOME, type DashboardView } from "./components.ts";

export type TabName = "deliveries" | "payments" | "links" | "requests";

export const dashboardPage = (view: DashboardView, page: WorkPage): Page =>
  workPage(
    {
      ...SANDBOX_FRAME,
      kind: "dashboard",
      titled: (title) => `${title} – ${view.merchantName} sandbox`,
      brand: clipped(view.merchantName),
      search: {
        action: "/search",
        label: "Search links, payments and deliveries",
        placeholder: "Amount, customer, reference, status or id",
      },
      tabs: [
        {
          href: "/deliveries",
          title: "Deliveries",
          more: view.failed === 0 ? "" : count(formatCount(view.failed), "failed"),
        },
        { href: "/payments", title: "Payments" },
        { href: "/links", title: "Links" },
        { href: "/requests", title: "Requests" },
      ],
      beside: html`<div id="controls" class="controls" data-live>
        ${clockControl(view)} ${signingKeyControl(view)}
      </div>`,
      notices: DASHBOARD_NOTICES,
    },
    view,
    page,
  );

const clockControl = (view: DashboardView): Page =>
  html`<div class="control">
    <span class="control-name">Clock</span>
    ${view.clock === "running" ? exactTime(view.now, view.now) : html`${datedMoment(view.now)} ${badge(view.clock)}`}
    ${controlForm(
      view,
      "/sandbox/advance",
      html`<button name="when" value="1h">+1 h<span class="hidden"> on the clock</span></button>
        <button name="when" value="1d">+1 d<span class="hidden"> on the clock</span></button>`,
    )}
  </div>`;

const signingKeyControl = (view: DashboardView): Page =>
  html`<div class="control">
    ${askedAction({
      id: "rotate",
      button: "Signing key…",
      title: "Rotate the signing key?",
      subject: `Webhooks are signed with ${view.keyid}.`,
      text: "They will be signed with a new key. The old key stays published for a day.",
      confirm: "Rotate key",
      kind: "danger",
      action: "/sandbox/rotate-key",
      back: view.here,
    })}
  </div>`;

/** What the action that led to this page did. */
const DASHBOARD_NOTICES: Notices = new Map([
  ["advanced", "The clock was moved forward."],
  ["cancelled", "The link was cancelled. It can no longer be paid."],
  ["created", "The link was created."],
  ["resent", "A new attempt has started."],
  ["resent-all", "A new attempt of each failed delivery has started."],
  ["sampled", "A sample link was created and paid. No money moved."],
  ["fault-set", "The fault is set. It affects requests to the API."],
  ["faults-cleared", "No fault is set. The API works as the service does."],
  ["reset", "Links, payments, deliveries, requests and faults were deleted."],
  ["rotated", "Webhooks are now signed with a new key. The old key stays published for a day."],
]);

/** What has failed, above a list. */
export const failedAlert = (view: DashboardView): Page | "" =>
  view.failed === 0
    ? ""
    : html`<p class="bad">${plural(view.failed, "delivery", "deliveries")} failed</p>
        <a href="${HOME}?state=failed">Show only these</a>
        ${controlForm(view, "/sandbox/deliveries/resend-failed", html`<button>Resend all failed</button>`)}`;

export const notFoundPage = (view: DashboardView, what: string): Page =>
  dashboardPage(view, {
    title: "Not found",
    content: notFoundContent(
      html`The sandbox has no ${what} with this id. It may have been restarted with <code>--reset</code> or
        another <code>--db</code>.`,
      html`<a class="button" href="${HOME}">All deliveries</a>`,
    ),
  });
