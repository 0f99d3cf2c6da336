/** The banner that every page of the sandbox has: nobody may take it for the service. */
import { html } from "hono/html";
import { MARK_PATH, page, type Page } from "../pages/page.ts";

const BANNER = html`<aside class="banner" aria-label="Sandbox">
  <svg viewBox="0 0 24 24" aria-hidden="true"><path d="${MARK_PATH}" /></svg>
  <strong>Sandbox</strong> No money moves here.
</aside>`;

/** Milliseconds between two readings of an open page. */
const POLL = 1_000;

export const sandboxPage = (frame: Omit<Parameters<typeof page>[0], "banner" | "poll">): Page =>
  page({ ...frame, banner: BANNER, poll: POLL });

export const BANNER_STYLE = `
.banner { background: var(--banner); color: var(--on-banner); text-align: center; padding: 0.4rem 1rem; font-size: 0.8125rem; }
.banner strong { margin-right: 0.35rem; }
.banner svg { width: 1rem; height: 1rem; margin-right: 0.4rem; vertical-align: -0.15rem; fill: none; stroke: currentColor; stroke-width: 2.4; stroke-linecap: round; }
`;
