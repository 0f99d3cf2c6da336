/** The page of a request to the API, with its answer. */
import { html } from "hono/html";
import { block, clipped, exactTime, panel } from "../../pages/components.ts";
import type { Page } from "../../pages/page.ts";
import type { ApiRequest } from "../requests.ts";
import type { DashboardView } from "./components.ts";
import { dashboardPage } from "./frame.ts";

/** Undefined for a request that is not kept. */
export function requestPage(view: DashboardView, number: string): Page | undefined {
  const found = view.requests.find(Number(number));
  if (found === undefined) return undefined;
  const { method, target, status, duration, at, request, response, fault } = found;
  const body = (id: string, { type, text }: ApiRequest["request"]): Page =>
    text === "" ? html`<p class="hint">No body.</p>` : block({ id, title: type, text });
  return dashboardPage(view, {
    title: `${method} ${clipped(target)}`,
    heading: `${method} ${clipped(target, 200)}`,
    tab: "/requests",
    live: false,
    content: html`${panel(
      "request",
      "Request",
      html`<p>${exactTime(at, view.now)}</p>
        ${body("request-body", request)}`,
    )}
    ${panel(
      "response",
      `Response ${status}`,
      html`<p>
          After ${duration} ms${fault === undefined ? "" : html` · <span class="bad">fault ${fault}</span>`}
        </p>
        ${body("response-body", response)}`,
    )}`,
  });
}
