/** Checks on who sends a request, so that no web page of another site can use the sandbox. */
import type { Context, MiddlewareHandler } from "hono";
import { isLoopback } from "../../domain/web-address.ts";
import { ServiceProblem } from "../service-problem.ts";
import type { Service } from "../service.ts";

/** Against DNS rebinding: a foreign name that resolves to 127.0.0.1 arrives as the Host. */
export function requireLocalHost({ parts }: Service): MiddlewareHandler {
  return async (c, next) => {
    if (!parts.allowRemote && !isLoopback(new URL(c.req.url).hostname))
      throw new ServiceProblem(
        421,
        "Misdirected Request",
        "the sandbox answers only to the loopback names of this machine",
      );
    return next();
  };
}

/** Browsers send the page's origin with every POST; a client without one is not a web page. */
export function requireSameOrigin(c: Context): void {
  const origin = c.req.header("origin");
  if (origin !== undefined && origin !== new URL(c.req.url).origin)
    throw new ServiceProblem(403, "Forbidden", "the request comes from a page of another origin");
}

/** Controls are for the dashboard's own page, and for clients with the merchant's token. */
export function requireControlAccess({ tokens }: Service): MiddlewareHandler {
  return async (c, next) => {
    requireSameOrigin(c);
    if (c.req.method !== "GET" && c.req.header("origin") === undefined)
      tokens.require(c.req.header("authorization"));
    return next();
  };
}
