/** Keeps web pages elsewhere out: the Host must be this machine's, and what changes something must come from here. */
import type { Context, MiddlewareHandler } from "hono";
import { isLoopback } from "../domain/web-address.ts";
import { ServiceProblem } from "./problem.ts";
import type { Service } from "./service.ts";

const originOf = (c: Context): string => new URL(c.req.url).origin;

/** A name that an attacker's DNS points at 127.0.0.1 arrives here with that name as its Host. */
export function localHost({ parts }: Service): MiddlewareHandler {
  return async (c, next) => {
    if (!parts.allowRemote && !isLoopback(new URL(c.req.url).hostname))
      throw new ServiceProblem(
        421,
        "Misdirected Request",
        "the sandbox answers to this machine's own names only",
      );
    return next();
  };
}

/** Browsers name the page's origin with every POST; a client without one is no web page. */
export function sameOrigin(c: Context): void {
  const origin = c.req.header("origin");
  if (origin !== undefined && origin !== originOf(c))
    throw new ServiceProblem(403, "Forbidden", "the request comes from a page of another origin");
}

/** The controls: for the dashboard's own page, or for whoever holds the merchant's token. */
export function controller({ accounts }: Service): MiddlewareHandler {
  return async (c, next) => {
    sameOrigin(c);
    if (c.req.method !== "GET" && c.req.header("origin") === undefined)
      accounts.merchantOf(c.req.header("authorization"));
    return next();
  };
}
