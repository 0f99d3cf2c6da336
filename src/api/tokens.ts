/** Access tokens: a fixed one, or those that client credentials obtain and renew (RFC 6749 4.4). */
import type { Effect } from "../domain/errors.ts";
import type { Send } from "../http/exchange.ts";
import { requestToken, usableToken, type AccessToken, type ClientCredentials } from "./token-request.ts";

export interface TokenSource {
  /** The current token, unless it is known to have expired. `effect` is that of the request that needs it. */
  current(effect: Effect): Promise<string>;
  /** A new token after the service refused the last one; undefined if this source cannot renew its token. */
  renew(effect: Effect): Promise<string | undefined>;
}

/** The user's own token, which cannot be renewed. */
export function fixedToken(token: string): TokenSource {
  const usable = usableToken(token);
  return { current: async () => usable, renew: async () => undefined };
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
  const renew = (effect: Effect): Promise<string> => {
    renewal ??= requestToken(parts, effect)
      .then(async (obtained) => {
        held = obtained;
        await parts.keep(obtained);
        return obtained.token;
      })
      .finally(() => (renewal = undefined));
    return renewal;
  };
  return {
    current: (effect) =>
      held !== undefined && isFresh(held, parts.now()) ? Promise.resolve(held.token) : renew(effect),
    renew,
  };
}

const isFresh = ({ expires }: AccessToken, now: Date): boolean =>
  expires === undefined || Date.parse(expires) - MARGIN > now.getTime();

/** The expiry that a JWT states (RFC 7519 4.1.4); undefined for other tokens. */
export function tokenExpiry(token: string): Date | undefined {
  const [, payload = ""] = token.trim().split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    const isObject = typeof claims === "object" && claims !== null;
    const expiry = isObject && "exp" in claims ? claims.exp : undefined;
    return typeof expiry === "number" && Math.abs(expiry) <= LAST_SECOND
      ? new Date(expiry * 1000)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The last second that a date can hold (ECMA-262 21.4.1.1). */
const LAST_SECOND = 8.64e12;
