/** Who may use the sandbox, and where: the hosts of API, checkout and dashboard, the merchant's credentials, and access tokens. */
import { createHmac } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { isLoopback } from "../values/addresses.ts";
import type { Token } from "../domain/exchanges.ts";
import { SCOPE } from "../domain/known-services.ts";
import { isSameSecret, ownHost, type PageAccess } from "../pages/access.ts";
import { type Merchant, newToken } from "./identity.ts";
import { ServiceProblem } from "./replies.ts";
import type { SandboxSetup } from "./setup.ts";

/** Whether the host was named: by the user, or because it is this machine. */
export const isNamedHost = (hostname: string, { allowedHosts }: SandboxSetup): boolean =>
  isLoopback(hostname) || allowedHosts.includes(hostname);

export const isAllowed = (hostname: string, setup: SandboxSetup): boolean =>
  setup.allowRemote || isNamedHost(hostname, setup);

/** The secrets of the dashboard are the same after a restart, so that an open page goes on. */
const dashboardSecret = ({ token }: Merchant, what: "host" | "cookie"): string =>
  createHmac("sha256", token).update(`dashboard ${what}`).digest("hex");

export const dashboardHost = (merchant: Merchant): string => ownHost(dashboardSecret(merchant, "host"));
export const dashboardCookie = (merchant: Merchant): string => dashboardSecret(merchant, "cookie");

/** Where customers pay. */
export const CHECKOUT_PATH = "/pay";

/** The checkout's URL at the address that the client used for the sandbox; the dashboard's host is not for customers. */
export function checkoutUrl(c: Context, { apiHost, merchant }: SandboxSetup): string {
  const url = new URL(CHECKOUT_PATH, c.req.url);
  if (url.hostname === dashboardHost(merchant)) url.hostname = apiHost;
  return url.href;
}

/** Every operation of the service needs an access token. */
export function requireToken(tokens: AccessTokens): MiddlewareHandler {
  return async (c, next) => {
    tokens.require(c.req.header("authorization"));
    return next();
  };
}

/** Controls need the cookie of the dashboard, or the merchant's token: any local program can send any Origin. */
export function requireControlAccess(tokens: AccessTokens, pages: PageAccess): MiddlewareHandler {
  return async (c, next) => {
    if (!pages.isHeldBy(c)) tokens.require(c.req.header("authorization"));
    return next();
  };
}

/** How long an access token is valid, in seconds. */
const TOKEN_LIFETIME = 3600;

/** RFC 6749 5.2. */
export const TOKEN_ERRORS = [
  "invalid_request",
  "invalid_client",
  "invalid_scope",
  "unsupported_grant_type",
] as const;
type TokenError = (typeof TOKEN_ERRORS)[number];

/** All mandatory, each once. */
const TOKEN_FIELDS = ["grant_type", "scope", "client_id", "client_secret"] as const;

interface TokenRefusal {
  readonly status: 400 | 401;
  readonly error: TokenError;
  readonly error_description: string;
  readonly challenge: "Basic" | undefined;
}

const tokenError = (error: TokenError, error_description: string, challenge?: "Basic"): TokenRefusal => ({
  status: error === "invalid_client" ? 401 : 400,
  error,
  error_description,
  challenge,
});

export type AccessTokens = ReturnType<typeof createAccessTokens>;

export function createAccessTokens({ merchant, tokenAuth, newId, clock }: SandboxSetup) {
  const expiries = new Map<string, number>();
  const now = (): number => clock.now().getTime();
  const challenge = tokenAuth === "basic" ? "Basic" : undefined;
  return {
    /** OAuth 2.0 client credentials (RFC 6749 4.4), as strict as the service: the credentials are form fields. */
    issue(authorization: string | undefined, form: FormData | undefined): Token | TokenRefusal {
      if (form === undefined)
        return tokenError("invalid_request", "the body must be a form: application/x-www-form-urlencoded");
      const basic = basicCredentials(authorization);
      if (basic !== undefined && challenge === undefined)
        return tokenError(
          "invalid_client",
          "the service takes client_id and client_secret as form fields, not HTTP Basic; start the sandbox with --token-auth basic to allow it",
        );
      const fields = basic === undefined ? TOKEN_FIELDS : TOKEN_FIELDS.slice(0, 2);
      const field = (name: (typeof TOKEN_FIELDS)[number]): string => {
        const value = form.get(name);
        return typeof value === "string" ? value : "";
      };
      const missing = fields.filter((name) => field(name) === "");
      if (missing.length > 0)
        return tokenError("invalid_request", `${missing.join(", ")} must be in the form`);
      if (TOKEN_FIELDS.some((name) => form.getAll(name).length > 1))
        return tokenError("invalid_request", "a field is in the form twice");
      if (field("grant_type") !== "client_credentials")
        return tokenError("unsupported_grant_type", "grant_type must be client_credentials");
      const [clientId, clientSecret] = basic ?? [field("client_id"), field("client_secret")];
      if (!isSameSecret(clientId, merchant.clientId) || !isSameSecret(clientSecret, merchant.clientSecret))
        return tokenError("invalid_client", "the client id or the client secret is wrong", challenge);
      if (field("scope") !== SCOPE) return tokenError("invalid_scope", `scope must be ${SCOPE}`);
      const token = newToken(newId);
      expiries.set(token, now() + TOKEN_LIFETIME * 1000);
      const rest = { scope: SCOPE, refresh_token: "" } as const;
      return { access_token: token, token_type: "Bearer", expires_in: TOKEN_LIFETIME, ...rest };
    },
    /** Throws a 401 problem unless the `Authorization` value carries a valid token. */
    require(authorization: string | undefined): void {
      const [, token = ""] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
      if (token === "") throw new ServiceProblem(401, "the request has no bearer token");
      const expiry = expiries.get(token) ?? (isSameSecret(token, merchant.token) ? Infinity : 0);
      if (expiry <= now()) throw new ServiceProblem(401, "the access token is unknown or expired");
    },
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
