/** Who may read and use the pages: a host of their own, keys that work once, and the cookie that a browser gets for one. */
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
 * Metadata); a client that sends neither is not a browser, and needs a secret of its own.
 */
export const requireSamePage: MiddlewareHandler = (c, next) =>
  c.req.header("origin") === undefined && c.req.header("sec-fetch-site") === undefined
    ? next()
    : onSamePage(c, next);

/** The host of pages that have one to themselves; `label` is hard to guess. */
export const ownHost = (label: string): string => `paylink-${label.slice(0, 12).toLowerCase()}.localhost`;

export interface PageAccessOptions {
  /** What the name of the cookie begins with. */
  readonly name: string;
  /** The only host of the pages; undefined where they share the hosts that `isShared` allows. */
  readonly host: string | undefined;
  readonly isShared: (hostname: string) => boolean;
  /** What the cookie holds. */
  readonly session: string;
  readonly newKey: () => string;
  /** Called when every address that was made has been used; `origin` is where a browser found the pages. */
  readonly used: (origin: string) => void;
}

export type PageAccess = ReturnType<typeof createPageAccess>;

/**
 * An address carries a key in `?key=` that works once, so that neither a log nor a history gives away the pages. A browser gets a
 * cookie for it, which is another secret. Browsers send a cookie to every port of its host, so the pages have a host of their own:
 * no other server on this machine gets requests for that name.
 */
export function createPageAccess({ name, host, isShared, session, newKey, used }: PageAccessOptions) {
  const keys = new Set<string>();
  // Where the pages share a host, its other ports have cookies too.
  const cookieOf = (c: Context): string => `${name}-${new URL(c.req.url).port || "80"}`;
  const isHere = (c: Context): boolean => {
    const { hostname } = new URL(c.req.url);
    return host === undefined ? isShared(hostname) : hostname === host;
  };
  const isHeldBy = (c: Context): boolean =>
    isHere(c) && isSameSecret(getCookie(c, cookieOf(c)) ?? "", session);
  const admit = (c: Context, given: string): void => {
    const key = [...keys].find((one) => isSameSecret(given, one));
    if (key === undefined) return;
    keys.delete(key);
    // Not Strict: the browser may come from a file, which is another site, and would not send it to the page that follows.
    setCookie(c, cookieOf(c), session, { httpOnly: true, sameSite: "Lax" });
    if (keys.size === 0) used(new URL(c.req.url).origin);
  };
  return {
    isHere,
    isHeldBy,
    /** Exchanges the key in an address for the cookie, and leads to the address without it. A browser with the cookie uses up no key. */
    exchange: (async (c, next) => {
      const given = c.req.query("key");
      if (given === undefined || c.req.method !== "GET" || !isHere(c)) return next();
      if (!isHeldBy(c)) admit(c, given);
      const url = new URL(c.req.url);
      url.searchParams.delete("key");
      // Browsers read an address that starts with two slashes as one of another host.
      return c.redirect(`${url.pathname.replace(/^\/+/, "/")}${url.search}`, 303);
    }) satisfies MiddlewareHandler,
    /** A new address of the pages, for one browser; `server` is any address of the server. */
    newAddress: (server: string): string => {
      const url = new URL("/", server);
      if (host !== undefined) url.hostname = host;
      const key = newKey();
      keys.add(key);
      url.searchParams.set("key", key);
      return url.href;
    },
  };
}

/** Compares digests, so that neither the time nor the length reveals anything about the secret. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
