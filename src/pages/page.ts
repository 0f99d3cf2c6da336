/** The frame of every page, how it is sent, and the headers that restrict what it may load and do. */
import { html } from "hono/html";
import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";
import { safePage } from "../render/safe-text.ts";

export type Page = ReturnType<typeof html>;

export interface Frame {
  readonly title: string;
  readonly content: Page;
  /** Each has a style and a script of its own. */
  readonly kind: "checkout" | "dashboard" | "inspector";
  /** The time by which the page tells today from other days. */
  readonly now: Date;
  /** Milliseconds between two readings of the open page by the script. */
  readonly poll: number;
  /** Above everything else. */
  readonly banner?: Page;
  /** The page shows a refused form, and its title begins with "Error:". */
  readonly invalid?: boolean;
}

/** A link of a chain. */
export const MARK_PATH =
  "M13.5 6.5l1.8-1.8a4.2 4.2 0 0 1 6 6l-3.6 3.6a4.2 4.2 0 0 1-6 0M10.5 17.5l-1.8 1.8a4.2 4.2 0 0 1-6-6l3.6-3.6a4.2 4.2 0 0 1 6 0";
const FAVICON = encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 -4 32 32"><rect x="-4" y="-4" width="32" height="32" rx="8" fill="#2f4bd8"/><path d="${MARK_PATH}" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/></svg>`,
);

export const page = ({ title, content, kind, now, poll, banner, invalid = false }: Frame): Page =>
  html`<!doctype html>
    <html lang="en" data-now="${now.toISOString()}" data-poll="${poll}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${invalid ? "Error: " : ""}${title}</title>
        <link rel="icon" type="image/svg+xml" href="data:image/svg+xml,${FAVICON}" />
        <link rel="stylesheet" href="/${kind}.css" />
        <script type="module" src="/${kind}.js"></script>
      </head>
      <body class="${kind === "checkout" ? kind : "pages"}">
        ${banner ?? ""}${content}
      </body>
    </html>`;

/** No inline code, no other origins, no framing. No value of a page is part of it, so none can add a directive. */
export const pageHeaders: MiddlewareHandler[] = [
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      scriptSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ["data:"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    referrerPolicy: "same-origin",
    strictTransportSecurity: false,
    xFrameOptions: "DENY",
  }),
  async (c, next) => {
    await next();
    c.header("Cache-Control", "no-store");
  },
];

/** Content as a reply, with every character visible that could change how the rest is read. */
export async function htmlReply(content: Page, status = 200): Promise<Response> {
  const headers = { "Content-Type": "text/html; charset=utf-8" };
  return new Response(safePage(String(await content)), { status, headers });
}

/** A file that pages load. */
export const fileReply = (text: string, type: "text/css" | "text/javascript"): Response =>
  new Response(text, { headers: { "Content-Type": `${type}; charset=utf-8` } });

/** Bytes to save: a browser must not show them as a page. */
export const download = (name: string, content: Uint8Array | string): Response =>
  new Response(typeof content === "string" ? content : Buffer.from(content), {
    headers: {
      "Content-Type": "application/octet-stream",
      "Content-Disposition": `attachment; filename="${name}"`,
    },
  });
