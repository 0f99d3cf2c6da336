/** Checks on who sends a request, so that no web page of another site can use the sandbox. */
import type { Context, MiddlewareHandler } from "hono";
import { isAllowed } from "../allowed-hosts.ts";
import { ServiceProblem } from "../service-problem.ts";
import type { Service } from "../service.ts";

/** Against DNS rebinding, in which a foreign name resolves to 127.0.0.1 and arrives as the Host. */
export function requireLocalHost({ parts }: Service): MiddlewareHandler {
  return async (c, next) => {
    if (!isAllowed(new URL(c.req.url).hostname, parts))
      throw new ServiceProblem(
        421,
        "Misdirected Request",
        "the sandbox answers only to the loopback names of this machine, and to those of --allow-host",
      );
    return next();
  };
}

/**
 * Browsers name the page that sends a POST by Origin, by Sec-Fetch-Site (W3C Fetch Metadata) or by both; a client with
 * neither is not a web page. `same-site` is refused too: it includes every other port of this machine.
 */
export function requireSameOrigin(c: Context): void {
  const origin = c.req.header("origin") ?? new URL(c.req.url).origin;
  const site = c.req.header("sec-fetch-site") ?? "same-origin";
  if (origin !== new URL(c.req.url).origin || (site !== "same-origin" && site !== "none"))
    throw new ServiceProblem(403, "Forbidden", "the request was made by a page of another origin");
}

/** Every operation of the service needs an access token. */
export function requireToken({ tokens }: Service): MiddlewareHandler {
  return async (c, next) => {
    tokens.require(c.req.header("authorization"));
    return next();
  };
}

/** Controls need the dashboard's key or the merchant's token, since any local program can send any Origin. */
export function requireControlAccess({ tokens }: Service): MiddlewareHandler {
  return async (c, next) => {
    requireSameOrigin(c);
    if (c.req.method === "GET") return next();
    const key = new URLSearchParams(await c.req.text()).get("key");
    if (key === null) tokens.require(c.req.header("authorization"));
    else if (!tokens.isDashboardKey(key))
      throw new ServiceProblem(
        403,
        "Forbidden",
        "the dashboard key is wrong; open the dashboard address that paylink sandbox prints",
      );
    return next();
  };
}
