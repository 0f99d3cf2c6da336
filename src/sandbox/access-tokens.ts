/** The secrets that open the sandbox: the merchant's credentials, the access tokens issued for them, the dashboard's key. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { ServiceProblem } from "./service-problem.ts";

export interface Merchant {
  readonly merchantId: string;
  readonly merchantName: string;
  readonly merchantStoreId: number;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Terminals assigned to the client (Endpoints rule 1). */
  readonly terminals: readonly string[];
  /** An access token that does not expire: the one in the profile that the sandbox registers. */
  readonly token: string;
}

/** The only scope of the service. */
export const SCOPE = "pay_by_link";

/** How long an access token is valid, in seconds. */
const TOKEN_LIFETIME = 3600;

export interface AccessTokens {
  /** OAuth 2.0 client credentials (RFC 6749 4.4), as form fields or as HTTP Basic. */
  issue(authorization: string | undefined, form: URLSearchParams): TokenResponse | TokenError;
  /** Throws a 401 problem unless the `Authorization` value carries a valid token. */
  require(authorization: string | undefined): void;
  /** Part of the dashboard's address, and of the forms on that page; it stays valid after a restart. */
  readonly dashboardKey: string;
  isDashboardKey(given: string): boolean;
}

export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly scope: typeof SCOPE;
  /** Reserved by the service. */
  readonly refresh_token: "";
}

/** RFC 6749 5.2. */
export const TOKEN_ERRORS = [
  "invalid_request",
  "invalid_client",
  "invalid_scope",
  "unsupported_grant_type",
] as const;

export interface TokenError {
  readonly status: 400 | 401;
  readonly error: (typeof TOKEN_ERRORS)[number];
  readonly error_description: string;
}

export function createAccessTokens(merchant: Merchant, newId: () => string, now: () => Date): AccessTokens {
  const expiries = new Map<string, number>();
  const deleteExpired = (): void => {
    for (const [token, expiry] of expiries) if (expiry <= now().getTime()) expiries.delete(token);
  };
  const dashboardKey = createHmac("sha256", merchant.token).update("dashboard").digest("base64url");
  return {
    issue(authorization, form) {
      if (form.get("grant_type") !== "client_credentials")
        return {
          status: 400,
          error: "unsupported_grant_type",
          error_description: "grant_type must be client_credentials",
        };
      const [clientId, clientSecret] = basicCredentials(authorization) ?? [
        form.get("client_id"),
        form.get("client_secret"),
      ];
      if (!isSame(clientId ?? "", merchant.clientId) || !isSame(clientSecret ?? "", merchant.clientSecret))
        return {
          status: 401,
          error: "invalid_client",
          error_description: "the client id or the client secret is wrong",
        };
      if ((form.get("scope") ?? SCOPE) !== SCOPE)
        return { status: 400, error: "invalid_scope", error_description: `scope must be ${SCOPE}` };
      deleteExpired();
      const token = `sandbox_${newId()}`;
      expiries.set(token, now().getTime() + TOKEN_LIFETIME * 1000);
      const rest = { scope: SCOPE, refresh_token: "" } as const;
      return { access_token: token, token_type: "Bearer", expires_in: TOKEN_LIFETIME, ...rest };
    },
    require(authorization) {
      const [, token = ""] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
      if (token === "") throw new ServiceProblem(401, "Unauthorized", "the request carries no bearer token");
      const expiry = expiries.get(token) ?? (isSame(token, merchant.token) ? Infinity : 0);
      if (expiry <= now().getTime())
        throw new ServiceProblem(401, "Unauthorized", "the access token is unknown or expired");
    },
    dashboardKey,
    isDashboardKey: (given) => isSame(given, dashboardKey),
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
