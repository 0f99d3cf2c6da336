/** The frame of every page, and the headers that restrict what a page may load and do. */
import { html } from "hono/html";

export type Page = ReturnType<typeof html>;

interface Frame {
  readonly title: string;
  readonly content: Page;
  /** The dashboard has a wider layout and a script. */
  readonly kind: "checkout" | "dashboard";
  /** An address that the browser opens by itself, without delay (WCAG 2.2.1 allows no other). */
  readonly next?: string | undefined;
}

export function page({ title, content, kind, next }: Frame): Page {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${next === undefined ? "" : html`<meta http-equiv="refresh" content="0;url=${next}" />`}
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${kind === "dashboard" ? "/style.css" : "/checkout.css"}" />
        ${kind === "dashboard" ? html`<script src="/dashboard.js" defer></script>` : ""}
      </head>
      <body class="${kind}">
        <header class="banner"><strong>Sandbox</strong> No money moves here.</header>
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
