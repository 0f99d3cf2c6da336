/** From the values in force to a client of the service: which token opens it, and what happens when it is refused. */
import { PaylinkError } from "../domain/errors.ts";
import type { InForce, Source } from "../store/settings/in-force.ts";
import { createApi, type Api } from "./client.ts";
import { withRetries, type RetryParts } from "./retries.ts";
import { fixedToken, tokensByCredentials, type AccessToken, type TokenSource } from "./tokens.ts";

export interface AccountParts extends RetryParts {
  readonly settings: InForce;
  /** Milliseconds for one exchange. */
  readonly timeout: number;
  /** Keeps a token that client credentials obtained, in the profile that they come from. */
  readonly keep: (profile: string, token: AccessToken) => Promise<void>;
}

/** Throws `no_profile` without a base URL, `no_token` without anything that gives a token. */
export function openApi(parts: AccountParts): Api {
  const { settings, timeout } = parts;
  const baseUrl = settings.get("baseUrl");
  if (baseUrl === undefined) throw noAccount();
  const send = withRetries(parts);
  const transactionPath = settings.get("transactionPath") ?? "";
  const tokens = tokensInForce({ ...parts, send });
  return createApi({ send, baseUrl, tokens, transactionPath, timeout });
}

export const noAccount = (): PaylinkError =>
  new PaylinkError("no_profile", "No account configured. Run one of:");

/**
 * A stronger source wins. Where one source gives both, the token is used, and the credentials renew it; those of another
 * source may be another account's, and never stand in for a token that was refused.
 */
function tokensInForce(parts: AccountParts): TokenSource {
  const { settings } = parts;
  const token = settings.find("token");
  const credentials = credentialsInForce(parts);
  if (token !== undefined && (credentials === undefined || !isStronger(credentials.source, token.source))) {
    const given = fixedToken(token.value);
    if (credentials?.source !== token.source) return given;
    return { current: () => given.current(), renew: () => credentials.tokens.renew() };
  }
  if (credentials !== undefined) return credentials.tokens;
  throw new PaylinkError("no_token", "No access token configured.");
}

const STRENGTH: readonly Source[] = ["default", "profile", "environment", "flag"];
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
  // What the environment gives is not written down.
  const own =
    profile !== undefined &&
    (["clientSecret", "clientId", "tokenUrl"] as const).every(
      (key) => settings.find(key)?.source === "profile",
    );
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
