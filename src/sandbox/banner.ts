/** The banner of every page of the sandbox, so that nobody takes the sandbox for the service. */
import { html } from "hono/html";
import { MARK_PATH, page, type Frame, type Page } from "../pages/page.ts";

const BANNER = html`<aside class="banner" aria-label="Sandbox">
  <svg viewBox="0 0 24 24" aria-hidden="true"><path d="${MARK_PATH}" /></svg>
  <strong>Sandbox</strong> No money moves here.
</aside>`;

/** Milliseconds between two readings of an open page. */
const SANDBOX_POLL = 1_000;

/** What the frames of the sandbox's pages have in common. */
export const SANDBOX_FRAME = { banner: BANNER, poll: SANDBOX_POLL };

/** A page of the checkout, which shows every time with its date. */
export const checkoutFrame = (frame: Pick<Frame, "title" | "content" | "invalid">): Page =>
  page({ ...frame, ...SANDBOX_FRAME, kind: "checkout", now: new Date(0) });
