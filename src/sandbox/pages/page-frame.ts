/** The frame of every page, and the headers that restrict what a page may load and do. */
import { html } from "hono/html";

export type Page = ReturnType<typeof html>;

interface Frame {
  readonly title: string;
  readonly content: Page;
  /** The dashboard has a wider layout and a script. */
  readonly kind: "checkout" | "dashboard";
  /** The page shows a refused form, and its title begins with "Error:". */
  readonly invalid?: boolean;
}

/** A link of a chain with a check mark. */
const MARK_PATH =
  "M13.5 6.5l1.8-1.8a4.2 4.2 0 0 1 6 6l-3.6 3.6a4.2 4.2 0 0 1-6 0M10.5 17.5l-1.8 1.8a4.2 4.2 0 0 1-6-6l3.6-3.6a4.2 4.2 0 0 1 6 0";
const FAVICON = encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 -4 32 32"><rect x="-4" y="-4" width="32" height="32" rx="8" fill="#2f4bd8"/><path d="${MARK_PATH}" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/></svg>`,
);

export function page({ title, content, kind, invalid = false }: Frame): Page {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${invalid ? "Error: " : ""}${title}</title>
        <link rel="icon" type="image/svg+xml" href="data:image/svg+xml,${FAVICON}" />
        <link rel="stylesheet" href="${kind === "dashboard" ? "/style.css" : "/checkout.css"}" />
        ${kind === "dashboard" ? html`<script src="/dashboard.js" defer></script>` : ""}
      </head>
      <body class="${kind}">
        <aside class="banner" aria-label="Sandbox">
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="${MARK_PATH}" /></svg>
          <strong>Sandbox</strong> No money moves here.
        </aside>
        ${content}
      </body>
    </html>`;
}

/** No inline code, no other origins, no framing. No value of a link is part of it, so no link can add a directive. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

export const pageHeaders = (): Record<string, string> => ({
  "Content-Security-Policy": POLICY,
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
});
