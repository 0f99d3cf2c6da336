/** Who may read and use the pages: the host they answer to, the page that a form is on, and the key in a cookie. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { csrf } from "hono/csrf";
import { HTTPException } from "hono/http-exception";

/** Against DNS rebinding, in which a foreign name resolves to 127.0.0.1 and arrives as the Host. */
export const requireHost =
  (isAllowed: (hostname: string) => boolean, message: string): MiddlewareHandler =>
  async (c, next) => {
    if (!isAllowed(new URL(c.req.url).hostname)) throw new HTTPException(421, { message });
    return next();
  };

const onSamePage = csrf();

/**
 * A form that changes something comes from a page of this origin. Browsers say so by Origin or by Sec-Fetch-Site (W3C Fetch
 * Metadata); a client that sends neither is no browser, and needs a secret of its own.
 */
export const requireSamePage: MiddlewareHandler = (c, next) =>
  c.req.header("origin") === undefined && c.req.header("sec-fetch-site") === undefined
    ? next()
    : onSamePage(c, next);

export type PageKey = ReturnType<typeof createPageKey>;

/**
 * The key of the pages. The printed address carries it once, in `?key=`; from then on it is in a cookie, so that no address that
 * is copied, bookmarked or sent gives it away. Ports of one machine share cookies, so the port is part of the name.
 */
export function createPageKey(key: string, name: string) {
  const cookieOf = (c: Context): string => `${name}-${new URL(c.req.url).port || "80"}`;
  return {
    isHeldBy: (c: Context): boolean => isSame(getCookie(c, cookieOf(c)) ?? "", key),
    /** Exchanges the key in an address for the cookie, and leads to the address without it. */
    exchange: (async (c, next) => {
      const given = c.req.query("key");
      if (given === undefined || c.req.method !== "GET") return next();
      const url = new URL(c.req.url);
      url.searchParams.delete("key");
      if (isSame(given, key)) setCookie(c, cookieOf(c), key, { httpOnly: true, sameSite: "Strict" });
      // Browsers read an address that starts with two slashes as one of another host.
      return c.redirect(`${url.pathname.replace(/^\/+/, "/")}${url.search}`, 303);
    }) satisfies MiddlewareHandler,
  };
}

/** Compares digests, so that neither the time nor the length reveals anything about the secret. */
export function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
