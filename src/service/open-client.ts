/** Creates the client of the service from the settings: the base URL, and the token or the client credentials. */
import { PaylinkError } from "../domain/errors.ts";
import type { Send } from "../http/exchange.ts";
import type { AccessToken, TokenClient } from "../settings/token-files.ts";
import type { ResolvedSettings, Source } from "../settings/resolved-settings.ts";
import { createApi, type Api } from "./client.ts";
import { withoutRetries, withRetries, type RetryParts } from "./retries.ts";
import { fixedToken, tokensByCredentials, type TokenSource } from "./tokens.ts";

export interface AccountParts extends RetryParts {
  readonly settings: ResolvedSettings;
  /** Whether the client repeats requests; otherwise the caller does. */
  readonly retries: boolean;
  /** Milliseconds for one operation with its retries. */
  readonly timeout: number;
  /** Fires at Ctrl-C or SIGTERM: a request that may create something is completed, and no other one starts. */
  readonly signal: AbortSignal;
  /** The token that an earlier run obtained for the client of this profile. */
  readonly kept: (profile: string, client: TokenClient) => AccessToken | undefined;
  /** Stores a token for the next run. */
  readonly keep: (profile: string, client: TokenClient, token: AccessToken) => void;
}

/** Throws `no_profile` without a base URL, `no_token` without a token and client credentials. */
export function openApi(parts: AccountParts): Api {
  const { settings, timeout } = parts;
  const baseUrl = settings.get("baseUrl");
  if (baseUrl === undefined) throw noAccount();
  const once = untilInterrupted(parts);
  const send = parts.retries ? withRetries({ ...parts, send: once }) : withoutRetries(once, parts.now);
  const tokens = resolvedTokens({ ...parts, send });
  return createApi({ send, baseUrl, tokens, timeout, transactionUrl: settings.get("transactionUrl") });
}

/** Starts no exchange after an interruption, or when the time of the command has passed. */
const untilInterrupted =
  ({ send, signal }: Pick<AccountParts, "send" | "signal">): Send =>
  async (request, options) => {
    signal.throwIfAborted();
    return send(request, { ...options, signal });
  };

export const noAccount = (): PaylinkError => new PaylinkError("no_profile", "No account configured.");

/**
 * The environment comes before the profile. If one of them has both, the token is used and the credentials renew it. Those of
 * the other never replace a refused token, since they may belong to another account.
 */
function resolvedTokens(parts: AccountParts): TokenSource {
  const token = parts.settings.find("token");
  const credentials = resolvedCredentials(parts);
  if (token !== undefined && (token.source === "environment" || credentials?.source !== "environment")) {
    const fixed = fixedToken(token.value);
    if (credentials?.source !== token.source) return fixed;
    return { ...fixed, renew: (effect, refused) => credentials.tokens.renew(effect, refused) };
  }
  if (credentials !== undefined) return credentials.tokens;
  throw new PaylinkError("no_token", "No access token configured.");
}

function resolvedCredentials({
  settings,
  kept,
  keep,
  ...parts
}: AccountParts): { readonly source: Source; readonly tokens: TokenSource } | undefined {
  const secret = settings.find("clientSecret");
  const clientId = settings.get("clientId");
  const tokenUrl = settings.get("tokenUrl");
  if (secret === undefined || clientId === undefined || tokenUrl === undefined) return undefined;
  const client = { tokenUrl, clientId, scope: settings.get("tokenScope") };
  const auth = settings.get("tokenAuth") ?? "post";
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
    credentials: { ...client, clientSecret: secret.value, auth },
    kept: own ? kept(profile, client) : undefined,
    keep: (token) => (own ? keep(profile, client, token) : undefined),
  });
  return { source: secret.source, tokens };
}
