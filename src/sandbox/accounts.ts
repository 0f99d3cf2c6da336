/** Who may use the sandbox: the merchant's client credentials, its terminals and the access tokens they obtain. */
import { createHash, timingSafeEqual } from "node:crypto";
import { ServiceProblem } from "./problem.ts";

export interface Merchant {
  readonly merchantId: string;
  readonly merchantName: string;
  readonly merchantStoreId: number;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Terminals assigned to the client (Endpoints rule 1). */
  readonly terminals: readonly string[];
  /** An access token that does not expire: what the sandbox hands to the profile that it registers. */
  readonly token: string;
}

/** How long an access token lives, in seconds. */
const TOKEN_LIFETIME = 3600;

export interface Accounts {
  /** OAuth 2.0 client credentials (RFC 6749 4.4), by form or by HTTP Basic; answers the token response. */
  issueToken(authorization: string | undefined, form: URLSearchParams): TokenResponse | TokenError;
  /** The merchant behind an `Authorization` value. Throws a 401 problem. */
  merchantOf(authorization: string | undefined): Merchant;
}

export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
}

/** RFC 6749 5.2. */
export interface TokenError {
  readonly status: 400 | 401;
  readonly error: "invalid_request" | "invalid_client" | "unsupported_grant_type";
  readonly error_description: string;
}

export function createAccounts(merchant: Merchant, newId: () => string, now: () => Date): Accounts {
  const expiries = new Map<string, number>();
  const forgetExpired = (): void => {
    for (const [token, expiry] of expiries) if (expiry <= now().getTime()) expiries.delete(token);
  };
  return {
    issueToken(authorization, form) {
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
      if (!same(clientId ?? "", merchant.clientId) || !same(clientSecret ?? "", merchant.clientSecret))
        return {
          status: 401,
          error: "invalid_client",
          error_description: "the client id or the client secret is wrong",
        };
      forgetExpired();
      const token = `sandbox_${newId()}`;
      expiries.set(token, now().getTime() + TOKEN_LIFETIME * 1000);
      return { access_token: token, token_type: "Bearer", expires_in: TOKEN_LIFETIME };
    },
    merchantOf(authorization) {
      const [, token = ""] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
      if (token === "") throw new ServiceProblem(401, "Unauthorized", "the request carries no bearer token");
      const expiry = expiries.get(token) ?? (same(token, merchant.token) ? Infinity : 0);
      if (expiry <= now().getTime())
        throw new ServiceProblem(401, "Unauthorized", "the access token is unknown or expired");
      return merchant;
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

/** Compares digests, so that neither the time taken nor a length tells anything of the secret. */
function same(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
