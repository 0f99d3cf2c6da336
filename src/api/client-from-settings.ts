/** Creates the client of the service from the settings: the base URL, and the token or the client credentials. */
import { PaylinkError } from "../domain/errors.ts";
import type { InForce, Source } from "../store/settings/in-force.ts";
import { createApi, type Api } from "./client.ts";
import { withRetries, type RetryParts } from "./retries.ts";
import type { AccessToken } from "./token-request.ts";
import { fixedToken, tokensByCredentials, type TokenSource } from "./tokens.ts";

export interface AccountParts extends RetryParts {
  readonly settings: InForce;
  /** Milliseconds for one exchange. */
  readonly timeout: number;
  /** Stores a token from client credentials in the profile of those credentials. */
  readonly keep: (profile: string, token: AccessToken) => Promise<void>;
}

/** Throws `no_profile` without a base URL, `no_token` without a token and client credentials. */
export function openApi(parts: AccountParts): Api {
  const { settings, timeout } = parts;
  const baseUrl = settings.get("baseUrl");
  if (baseUrl === undefined) throw noAccount();
  const send = withRetries(parts);
  const transactionUrl = settings.get("transactionUrl");
  const tokens = tokensInForce({ ...parts, send });
  return createApi({ send, baseUrl, tokens, transactionUrl, timeout });
}

export const noAccount = (): PaylinkError =>
  new PaylinkError("no_profile", "No account configured. Run one of:");

/**
 * A stronger source wins. If one source has both, the token is used and the credentials renew it. Credentials of another
 * source never replace a refused token, since they may belong to another account.
 */
function tokensInForce(parts: AccountParts): TokenSource {
  const { settings } = parts;
  const token = settings.find("token");
  const credentials = credentialsInForce(parts);
  if (token !== undefined && (credentials === undefined || !isStronger(credentials.source, token.source))) {
    const fixed = fixedToken(token.value);
    if (credentials?.source !== token.source) return fixed;
    return { current: () => fixed.current(), renew: () => credentials.tokens.renew() };
  }
  if (credentials !== undefined) return credentials.tokens;
  throw new PaylinkError("no_token", "No access token configured.");
}

const STRENGTH: readonly Source[] = ["default", "service", "profile", "environment", "flag"];
const isStronger = (one: Source, other: Source): boolean => STRENGTH.indexOf(one) > STRENGTH.indexOf(other);

function credentialsInForce({
  settings,
  keep,
  ...parts
}: AccountParts): { readonly source: Source; readonly tokens: TokenSource } | undefined {
  const secret = settings.find("clientSecret");
  const clientId = settings.get("clientId");
  const tokenUrl = settings.get("tokenUrl");
  if (secret === undefined || clientId === undefined || tokenUrl === undefined) return undefined;
  const credentials = { tokenUrl, clientId, clientSecret: secret.value };
  const { profile } = settings;
  // A token from credentials in the environment is not stored.
  const own =
    profile !== undefined &&
    (["clientSecret", "clientId", "tokenUrl"] as const).every((key) => {
      const source = settings.find(key)?.source;
      return source === "profile" || source === "service";
    });
  const tokens = tokensByCredentials({
    ...parts,
    credentials,
    kept: own ? keptToken(settings) : undefined,
    keep: async (token) => (own ? keep(profile, token) : undefined),
  });
  return { source: secret.source, tokens };
}

function keptToken(settings: InForce): AccessToken | undefined {
  const token = settings.get("accessToken");
  const expires = settings.get("accessTokenExpires");
  if (token === undefined) return undefined;
  return expires === undefined ? { token } : { token, expires };
}
