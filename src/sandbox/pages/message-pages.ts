/** Pages with one message: the frame of the receipt, why a link is closed, or why a request was refused. */
import { html } from "hono/html";
import type { LinkStatus } from "../../domain/payment-link-reply.ts";
import type { OpenStatus } from "../links.ts";
import { name } from "./checkout-parts.ts";
import { page, type Page } from "./page-frame.ts";
import type { ServiceProblem } from "../replies.ts";

/** Drawn as paths, since fonts draw such characters in different sizes. */
const SHAPES = {
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M7 7l10 10M17 7L7 17",
  dash: "M6.5 12h11",
  exclamation: "M12 6v7.5M12 17.5v.01",
} as const;

const MARKS = {
  approved: SHAPES.check,
  declined: SHAPES.cross,
  cancelled: SHAPES.dash,
  paid: SHAPES.check,
  expired: SHAPES.exclamation,
  unknown: SHAPES.exclamation,
  refused: SHAPES.cross,
} as const;

export const messagePage = (mark: keyof typeof MARKS, title: string, content: Page): Page =>
  page({
    kind: "checkout",
    title,
    content: html`<main>
      <div class="card message">
        <svg class="mark ${mark}" viewBox="0 0 24 24" aria-hidden="true"><path d="${MARKS[mark]}" /></svg>
        <div role="status"><h1>${title}</h1></div>
        ${content}
      </div>
    </main>`,
  });

const CLOSED = {
  paid: ["paid", "This link has been paid", "No further payment is due."],
  expired: ["expired", "This link has expired", "Ask the merchant for a new link."],
  cancelled: ["cancelled", "This link was cancelled", "The merchant no longer accepts this payment."],
} as const;

export function closedPage(status: Exclude<LinkStatus, OpenStatus>, merchantName: string): Page {
  const [mark, title, advice] = CLOSED[status];
  return messagePage(
    mark,
    title,
    html`<p>${name(merchantName)}</p>
      <p class="advice">${advice}</p>`,
  );
}

export const unknownPage = (): Page =>
  messagePage(
    "unknown",
    "Payment link not found",
    html`<p class="advice">Check that the address is complete, or ask the merchant for a new link.</p>`,
  );

/** The page for browsers; programs get problem details. */
export const problemPage = ({ title, message, errors }: ServiceProblem): Page =>
  messagePage(
    "refused",
    title,
    html`<p>${message.charAt(0).toUpperCase()}${message.slice(1)}.</p>
      ${
        errors.length === 0
          ? ""
          : html`<ul>
                ${errors.map(({ at, message: detail }) => html`<li><span class="mono">${at}</span> ${detail}</li>`)}
              </ul>
              <p class="hint">Go back to correct it.</p>`
      }
      <a class="button" href="/">Dashboard</a>`,
  );
