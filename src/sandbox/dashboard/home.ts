/** The first page: three steps from a link to its webhook, with commands to copy, a sample in one click, and what happened last. */
import { html } from "hono/html";
import { LISTENER_PORT, SANDBOX_PROFILE } from "../../domain/known-services.ts";
import { isOpenLink, linkResponse, linkStatusAt } from "../links.ts";
import { clipped, copyable } from "../../pages/components.ts";
import type { Page } from "../../pages/page.ts";
import { dashboardPage } from "./frame.ts";
import { listPanel } from "./list-page.ts";
import { PAYMENT_LIST } from "./lists.ts";
import { controlForm, linkPath, linkTitle, pageLink, type DashboardView } from "./components.ts";

/** The profile is named even if it is current: the user may copy the line after choosing another one. */
const commandLine = (what: string, words: string): Page =>
  html`<p>${copyable(`the command that ${what}`, `paylink ${words} -p ${SANDBOX_PROFILE}`)}</p>`;

export function homePage(view: DashboardView): Page {
  const sample = controlForm(
    view,
    "/sandbox/sample",
    html`<button class="primary">Create and pay a sample link</button>`,
  );
  return dashboardPage(view, {
    title: "Start",
    heading: "Take a payment in three steps",
    actions: sample,
    content: html`<ol class="steps">
        <li class="panel">
          <h2>Create a link</h2>
          <p class="hint"><a href="/links/new">Fill in the form</a>, or:</p>
          ${commandLine("creates a link", "create --amount 10 --currency EUR")}
        </li>
        <li class="panel">
          <h2>Pay it</h2>
          ${payStep(view)}
        </li>
        <li class="panel">
          <h2>Receive the webhook</h2>
          <p class="hint">
            This command verifies each webhook; <code>--forward-to</code> passes it on to your application:
          </p>
          ${commandLine("receives webhooks", `listen --port ${LISTENER_PORT}`)}
        </li>
      </ol>
      ${listPanel(view, PAYMENT_LIST, { query: {}, title: "Newest payments" })}`,
  });
}

function payStep(view: DashboardView): Page {
  const [link] = view.ledger.links({ limit: 1, now: view.now }).rows;
  const status = link === undefined ? "expired" : linkStatusAt(link, view.now);
  if (link === undefined || !isOpenLink(status))
    return html`<p class="hint">
      Open its address, or run
      <code>paylink pay &lt;link&gt; -p ${SANDBOX_PROFILE}</code>
    </p>`;
  const { url } = linkResponse(link, view.checkoutUrl, view.now);
  return html`<p class="hint">The newest link: ${pageLink(linkPath(link.id), clipped(linkTitle(link)))}</p>
    <a class="button" href="${url}">Open checkout</a>
    ${commandLine("pays the newest link", `pay ${link.id}`)}`;
}
