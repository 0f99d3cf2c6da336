/** Creates the client of the service from the settings: the base URL, and the token or the client credentials. */
import { PaylinkError, hint, paylink } from "../domain/errors.ts";
import { SPECIFIED_FORM } from "../domain/known-services.ts";
import { SendTimeout, type Send, type TlsFiles } from "../http/exchange.ts";
import type { ResolvedSettings, Source } from "../settings/resolved-settings.ts";
import { createApi, type Api } from "./client.ts";
import { withoutRetries, withRetries, type RetryParts } from "./retries.ts";
import { fixedToken, tokensByCredentials, type AccessToken, type TokenSource } from "./tokens.ts";
import { keyPairReason } from "../domain/system-reason.ts";

export interface AccountParts extends Omit<RetryParts, "timeLeft"> {
  readonly settings: ResolvedSettings;
  /** Whether the client repeats requests; otherwise the caller does. */
  readonly retries: boolean;
  /** Milliseconds for one operation with its retries. */
  readonly timeout: number;
  /** Milliseconds since 1970 at which the command must end; undefined sets no limit. */
  readonly deadline: number | undefined;
  /** Fires at Ctrl-C or SIGTERM: a request that may create something is completed, and no other one starts. */
  readonly signal: AbortSignal;
  readonly newId: () => string;
  readonly readFile: (path: string) => Promise<Uint8Array>;
  /** Stores a token from client credentials in the profile of those credentials. */
  readonly keep: (profile: string, token: AccessToken) => Promise<void>;
}

/** Throws `no_profile` without a base URL, `no_token` without a token and client credentials. */
export async function openApi(parts: AccountParts): Promise<Api> {
  const { settings, timeout, newId, readFile } = parts;
  const baseUrl = settings.get("baseUrl");
  if (baseUrl === undefined) throw noAccount();
  const timeLeft = (): number =>
    parts.deadline === undefined ? Number.POSITIVE_INFINITY : parts.deadline - parts.now().getTime();
  const once = withinRun(parts, timeLeft);
  const send = parts.retries
    ? withRetries({ ...parts, send: once, timeLeft })
    : withoutRetries(once, parts.now);
  const clientCertificate = await readClientCertificate(settings, readFile);
  const tokens = resolvedTokens({ ...parts, send, clientCertificate });
  return createApi({
    send,
    baseUrl,
    tokens,
    timeout,
    newId,
    clientCertificate,
    linksPath: settings.get("linksPath") ?? SPECIFIED_FORM.linksPath,
    transactionUrl: settings.get("transactionUrl"),
    authHeader: settings.get("authHeader") ?? SPECIFIED_FORM.authHeader,
    headers: settings.get("headers"),
    idempotencyHeader: settings.get("idempotencyHeader"),
    linkAt: settings.get("linkAt"),
    recordAt: settings.get("recordAt"),
  });
}

/** Starts no exchange after an interruption, and ends each one within the command's time. */
const withinRun =
  ({ send, signal }: Pick<AccountParts, "send" | "signal">, timeLeft: () => number): Send =>
  async (request, options = {}) => {
    signal.throwIfAborted();
    const left = timeLeft();
    if (left <= 0) throw new SendTimeout("the time of --timeout has passed", false);
    const { timeout = left } = options;
    return send(request, { ...options, signal, timeout: Math.min(timeout, left) });
  };

export const noAccount = (): PaylinkError => new PaylinkError("no_profile", "No account configured.");

interface TokenParts extends AccountParts {
  readonly clientCertificate: TlsFiles | undefined;
}

/**
 * A stronger source wins. If one source has both, the token is used and the credentials renew it. Credentials of another
 * source never replace a refused token, since they may belong to another account.
 */
function resolvedTokens(parts: TokenParts): TokenSource {
  const { settings } = parts;
  const token = settings.find("token");
  const credentials = resolvedCredentials(parts);
  if (token !== undefined && (credentials === undefined || !isStronger(credentials.source, token.source))) {
    const fixed = fixedToken(token.value);
    if (credentials?.source !== token.source) return fixed;
    return { ...fixed, renew: (effect) => credentials.tokens.renew(effect) };
  }
  if (credentials !== undefined) return credentials.tokens;
  throw new PaylinkError("no_token", "No access token configured.");
}

const STRENGTH: readonly Source[] = ["default", "service", "profile", "environment", "flag"];
const isStronger = (one: Source, other: Source): boolean => STRENGTH.indexOf(one) > STRENGTH.indexOf(other);

function resolvedCredentials({
  settings,
  keep,
  clientCertificate,
  ...parts
}: TokenParts): { readonly source: Source; readonly tokens: TokenSource } | undefined {
  const secret = settings.find("clientSecret");
  const clientId = settings.get("clientId");
  const tokenUrl = settings.get("tokenUrl");
  if (secret === undefined || clientId === undefined || tokenUrl === undefined) return undefined;
  const credentials = {
    tokenUrl,
    clientId,
    clientSecret: secret.value,
    auth: settings.get("tokenAuth") ?? "basic",
    scope: settings.get("tokenScope"),
    params: settings.get("tokenParams") ?? "",
    anyType: settings.find("authHeader")?.source !== "default",
    clientCertificate,
  };
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

function keptToken(settings: ResolvedSettings): AccessToken | undefined {
  const token = settings.get("accessToken");
  const expires = settings.get("accessTokenExpires");
  if (token === undefined) return undefined;
  return expires === undefined ? { token } : { token, expires };
}

type ReadFile = (path: string) => Promise<Uint8Array>;

/** Throws `usage` if one setting is missing or the files do not fit together, `file_unreadable`. */
export async function readClientCertificate(
  settings: ResolvedSettings,
  readFile: ReadFile,
): Promise<TlsFiles | undefined> {
  const cert = settings.get("clientCert");
  const key = settings.get("clientKey");
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    const [given, missing] =
      cert === undefined ? (["clientKey", "clientCert"] as const) : (["clientCert", "clientKey"] as const);
    throw new PaylinkError("usage", `${given} is set, and ${missing} is not. Nothing was sent.`, {
      hints: [hint`Mutual TLS needs both files: ${paylink("config", "set", missing, "<file>")}`],
    });
  }
  const files = {
    cert: await read("clientCert", cert, readFile),
    key: await read("clientKey", key, readFile),
  };
  // Most accounts have no client certificate and do not need this module.
  const { createSecureContext } = await import("node:tls");
  try {
    createSecureContext({ cert: Buffer.from(files.cert), key: Buffer.from(files.key) });
  } catch (error) {
    throw new PaylinkError("usage", "The client certificate cannot be used. Nothing was sent.", {
      problems: [
        { at: "clientCert", message: cert },
        { at: "clientKey", message: `${key}: ${keyPairReason(error)}` },
      ],
      hints: [
        hint`clientCert must be a PEM file with a certificate, and clientKey a PEM file with its key, without a passphrase.`,
      ],
      cause: error,
    });
  }
  return files;
}

async function read(name: string, path: string, readFile: ReadFile): Promise<Uint8Array> {
  return readFile(path).catch((error: unknown) => {
    if (!(error instanceof PaylinkError)) throw error;
    throw new PaylinkError(error.code, `${name}: ${error.message} Nothing was sent.`, { cause: error });
  });
}
