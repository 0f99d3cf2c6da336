/** The frame of every page, and the headers that restrict what a page may load and do. */
import { html } from "hono/html";

export type Page = ReturnType<typeof html>;

interface Frame {
  readonly title: string;
  readonly content: Page;
  /** The dashboard has a wider layout and a script. */
  readonly kind: "checkout" | "dashboard";
}

export function page({ title, content, kind }: Frame): Page {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/style.css" />
        ${kind === "dashboard" ? html`<script src="/dashboard.js" defer></script>` : ""}
      </head>
      <body class="${kind}">
        <header class="banner"><strong>Sandbox</strong> No money moves here.</header>
        ${content}
      </body>
    </html>`;
}

/**
 * No inline code, no other origins, no framing. Browsers apply `form-action` also to the redirect after a form, so a
 * checkout page lists the merchant's origins there.
 */
export function pageHeaders(formTargets: readonly string[] = []): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src data:",
    `form-action ${["'self'", ...formTargets].join(" ")}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  };
}
