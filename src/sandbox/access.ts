/** Who may use the sandbox: the hosts that it answers to, the merchant's credentials, access tokens, the dashboard's key. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { isLoopback } from "../domain/addresses.ts";
import type { Merchant } from "./identity.ts";
import { formBody, ServiceProblem } from "./replies.ts";

/** The machines that the sandbox answers to and posts to. */
export interface AllowedHosts {
  /** Every machine. */
  readonly allowRemote: boolean;
  /** Names besides those of loopback, as `URL.hostname` spells them. */
  readonly allowedHosts: readonly string[];
}

/** Whether the host was named: by the user, or because it is this machine. */
export const isNamed = (hostname: string, { allowedHosts }: AllowedHosts): boolean =>
  isLoopback(hostname) || allowedHosts.includes(hostname);

export const isAllowed = (hostname: string, hosts: AllowedHosts): boolean =>
  hosts.allowRemote || isNamed(hostname, hosts);

/** Against DNS rebinding, in which a foreign name resolves to 127.0.0.1 and arrives as the Host. */
export function requireLocalHost(hosts: AllowedHosts): MiddlewareHandler {
  return async (c, next) => {
    if (!isAllowed(new URL(c.req.url).hostname, hosts))
      throw new ServiceProblem(
        421,
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
    throw new ServiceProblem(403, "the request was made by a page of another origin");
}

/** Every operation of the service needs an access token. */
export function requireToken(tokens: AccessTokens): MiddlewareHandler {
  return async (c, next) => {
    tokens.require(c.req.header("authorization"));
    return next();
  };
}

/** Controls need the dashboard's key or the merchant's token, since any local program can send any Origin. */
export function requireControlAccess(tokens: AccessTokens): MiddlewareHandler {
  return async (c, next) => {
    requireSameOrigin(c);
    if (c.req.method === "GET") return next();
    const key = (await formBody(c)).get("key");
    if (key === null) tokens.require(c.req.header("authorization"));
    else if (!tokens.isDashboardKey(key))
      throw new ServiceProblem(
        403,
        "the dashboard key is wrong; open the dashboard address that paylink sandbox prints",
      );
    return next();
  };
}

/** The only scope of the service. */
export const SCOPE = "pay_by_link";

/** How long an access token is valid, in seconds. */
const TOKEN_LIFETIME = 3600;

/** RFC 6749 5.2. */
export const TOKEN_ERRORS = [
  "invalid_request",
  "invalid_client",
  "invalid_scope",
  "unsupported_grant_type",
] as const;

export const tokenError = (
  status: 400 | 401,
  error: (typeof TOKEN_ERRORS)[number],
  error_description: string,
) => ({ status, error, error_description });

export type AccessTokens = ReturnType<typeof createAccessTokens>;

export function createAccessTokens(merchant: Merchant, newId: () => string, now: () => Date) {
  const expiries = new Map<string, number>();
  const deleteExpired = (): void => {
    for (const [token, expiry] of expiries) if (expiry <= now().getTime()) expiries.delete(token);
  };
  const sealOf = (text: string): string =>
    createHmac("sha256", merchant.token).update(text).digest("base64url");
  const dashboardKey = sealOf("dashboard");
  return {
    /** OAuth 2.0 client credentials (RFC 6749 4.4), as form fields or as HTTP Basic. */
    issue(authorization: string | undefined, form: URLSearchParams) {
      if (form.get("grant_type") !== "client_credentials")
        return tokenError(400, "unsupported_grant_type", "grant_type must be client_credentials");
      const [clientId, clientSecret] = basicCredentials(authorization) ?? [
        form.get("client_id"),
        form.get("client_secret"),
      ];
      if (!isSame(clientId ?? "", merchant.clientId) || !isSame(clientSecret ?? "", merchant.clientSecret))
        return tokenError(401, "invalid_client", "the client id or the client secret is wrong");
      if ((form.get("scope") ?? SCOPE) !== SCOPE)
        return tokenError(400, "invalid_scope", `scope must be ${SCOPE}`);
      deleteExpired();
      const token = `sandbox_${newId()}`;
      expiries.set(token, now().getTime() + TOKEN_LIFETIME * 1000);
      const rest = { scope: SCOPE, refresh_token: "" } as const;
      return { access_token: token, token_type: "Bearer", expires_in: TOKEN_LIFETIME, ...rest };
    },
    /** Throws a 401 problem unless the `Authorization` value carries a valid token. */
    require(authorization: string | undefined): void {
      const [, token = ""] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
      if (token === "") throw new ServiceProblem(401, "the request carries no bearer token");
      const expiry = expiries.get(token) ?? (isSame(token, merchant.token) ? Infinity : 0);
      if (expiry <= now().getTime()) throw new ServiceProblem(401, "the access token is unknown or expired");
    },
    /** Part of the dashboard's address, and of the forms on that page; it stays valid after a restart. */
    dashboardKey,
    isDashboardKey: (given: string): boolean => isSame(given, dashboardKey),
    /** Proves that the sandbox has rendered a page with these values. */
    sealOf: (values: readonly (string | null)[]): string => sealOf(JSON.stringify(values)),
  };
}

/** RFC 6749 2.3.1: both parts are form-encoded before they are joined. */
function basicCredentials(authorization: string | undefined): [string, string] | undefined {
  const [, encoded] = /^Basic +(\S+)$/i.exec(authorization ?? "") ?? [];
  if (encoded === undefined) return undefined;
  const [id = "", ...secret] = Buffer.from(encoded, "base64").toString().split(":");
  const decode = (text: string): string => new URLSearchParams(`v=${text}`).get("v") ?? "";
  return [decode(id), decode(secret.join(":"))];
}

/** Compares digests, so that neither the time nor the length reveals anything about the secret. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
