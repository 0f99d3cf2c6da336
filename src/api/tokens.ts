/** Access tokens: a fixed one, or those that client credentials obtain and renew (RFC 6749 4.4). */
import type { CustomFetchOptions } from "oauth4webapi";
import { PaylinkError } from "../domain/errors.ts";
import { isExposed, parseWebAddress } from "../domain/web-address.ts";
import type { Send } from "../http/exchange.ts";
import { addressOf } from "../http/message.ts";
import { failureOf } from "./failures.ts";

export interface TokenSource {
  /** The current token, unless it is known to have expired. */
  current(): Promise<string>;
  /** A new token after the service refused the last one; undefined if there is none. */
  renew(): Promise<string | undefined>;
}

/** The user's own token, which cannot be renewed. */
export function fixedToken(token: string): TokenSource {
  const usable = usableToken(token);
  return { current: async () => usable, renew: async () => undefined };
}

/** Refuses characters that a header cannot have; RFC 6750 2.1 allows even fewer. */
function usableToken(token: string): string {
  const trimmed = token.trim();
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  throw new PaylinkError(
    "no_token",
    "The access token contains a space or a character that tokens cannot have.",
  );
}

export interface ClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface AccessToken {
  readonly token: string;
  /** ISO 8601; absent if the service did not say. */
  readonly expires?: string;
}

export interface CredentialParts {
  readonly credentials: ClientCredentials;
  readonly send: Send;
  readonly now: () => Date;
  readonly timeout: number;
  /** The token of an earlier run. */
  readonly kept: AccessToken | undefined;
  /** Stores a new token for the next run. */
  readonly keep: (token: AccessToken) => Promise<void>;
}

/** A token is renewed this many milliseconds before it expires, since a request takes time. */
const MARGIN = 30_000;

export function tokensByCredentials(parts: CredentialParts): TokenSource {
  let held = parts.kept;
  let renewal: Promise<string> | undefined;
  // Many requests at once share one renewal.
  const renew = (): Promise<string> => {
    renewal ??= obtainToken(parts)
      .then(async (obtained) => {
        held = obtained;
        await parts.keep(obtained);
        return obtained.token;
      })
      .finally(() => (renewal = undefined));
    return renewal;
  };
  return {
    current: () => (held !== undefined && isFresh(held, parts.now()) ? Promise.resolve(held.token) : renew()),
    renew,
  };
}

const isFresh = ({ expires }: AccessToken, now: Date): boolean =>
  expires === undefined || Date.parse(expires) - MARGIN > now.getTime();

async function obtainToken({ credentials, send, now, timeout }: CredentialParts): Promise<AccessToken> {
  const { tokenUrl, clientId, clientSecret } = credentials;
  const url = parseWebAddress(tokenUrl);
  if (url === undefined || isExposed(url))
    throw new PaylinkError(
      "usage",
      `The token URL ${tokenUrl} is not https, and paylink sends a secret only over https.`,
    );
  // Most runs have a token and do not need this library.
  const oauth = await import("oauth4webapi");
  const server = { issuer: url.origin, token_endpoint: url.href };
  const client = { client_id: clientId };
  const options = { [oauth.customFetch]: fetchOver(send, timeout), [oauth.allowInsecureRequests]: true };
  const asked = now();
  try {
    const reply = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      oauth.ClientSecretBasic(clientSecret),
      {},
      options,
    );
    const answer = await oauth.processClientCredentialsResponse(server, client, reply);
    const { access_token, expires_in } = answer;
    const token = usableToken(access_token);
    if (expires_in === undefined) return { token };
    return { token, expires: new Date(asked.getTime() + expires_in * 1000).toISOString() };
  } catch (error) {
    throw tokenFailure(oauth, error, url);
  }
}

/** A fetch function for oauth4webapi that uses our `Send`. */
function fetchOver(send: Send, timeout: number) {
  return async (
    address: string,
    { method, headers, body }: CustomFetchOptions<"POST", URLSearchParams>,
  ): Promise<Response> => {
    const url = new URL(address);
    const reply = await send(
      {
        method,
        ...addressOf(url),
        headers: Object.entries(headers),
        body: new TextEncoder().encode(body.toString()),
      },
      { timeout },
    );
    const lines = reply.headers.map(([name, value]): [string, string] => [name, value]);
    const bodiless = reply.status === 204 || reply.status === 205 || reply.status === 304;
    return new Response(bodiless ? null : Buffer.from(reply.body), { status: reply.status, headers: lines });
  };
}

/** The failure of a token request. Nothing was created, whatever the reason. */
function tokenFailure(oauth: typeof import("oauth4webapi"), error: unknown, url: URL): unknown {
  if (error instanceof oauth.ResponseBodyError) {
    const words = error.error_description ?? error.error;
    return new PaylinkError(
      "unauthorized",
      `${url.origin} gave no access token (${error.status}): ${words}`,
      {
        details: { status: error.status, error: error.error },
        hint: "Check the client id and the client secret: paylink login",
        cause: error,
      },
    );
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError)
    return new PaylinkError(
      "unauthorized",
      `${url.origin} gave no access token: it answered ${error.status}.`,
      {
        details: { status: error.status },
        hint: "Check the client id and the client secret: paylink login",
        cause: error,
      },
    );
  if (error instanceof oauth.OperationProcessingError)
    return new PaylinkError("not_reached", `${url.href} gave no usable access token: ${error.message}.`, {
      hint: "Nothing was created. Check the token URL: paylink config get tokenUrl",
      cause: error,
    });
  return failureOf(error, "reads");
}

/** The expiry that a JWT states (RFC 7519 4.1.4); undefined for other tokens. */
export function tokenExpiry(token: string): Date | undefined {
  const [, payload = ""] = token.trim().split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    const expiry = (claims as { readonly exp?: unknown } | null)?.exp;
    return typeof expiry === "number" && Math.abs(expiry) <= LAST_SECOND
      ? new Date(expiry * 1000)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The last second that a date can hold (ECMA-262 21.4.1.1). */
const LAST_SECOND = 8.64e12;
