/** Access tokens: a fixed one, or those that client credentials obtain and renew (RFC 6749 4.4). */
import { hint, paylink, PaylinkError, type Effect, type FailureCode, type Hint } from "../domain/errors.ts";
import { SendError, type Send, type TlsFiles } from "../http/exchange.ts";
import { isJsonNumber, memberOf, type Json, type JsonObject } from "../domain/json.ts";
import { parseJsonObject } from "../domain/parse-json.ts";
import { isExposed, parseWebAddress } from "../domain/addresses.ts";
import { addressOf, type HeaderLine, type HttpReply } from "../http/message.ts";
import { answeredWith, isOverloaded, notReached, UnusableAnswer, waitHints } from "./failures.ts";
import { serviceWords, wordsOf, type ServiceWords } from "./words.ts";

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

interface CredentialParts {
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

export interface ClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** RFC 6749 2.3.1, the same without form-encoding, as form fields, as JSON. */
  readonly auth: "basic" | "basic-plain" | "post" | "json";
  readonly scope: string | undefined;
  /** Further parameters, in the form `audience=…&resource=…`. */
  readonly params: string;
  /** Accepts a token of any type: the user has set how the token is sent. */
  readonly anyType: boolean;
  readonly clientCertificate: TlsFiles | undefined;
}

export interface AccessToken {
  readonly token: string;
  /** ISO 8601; absent if the service did not give it. */
  readonly expires?: string;
}

const TOKEN_URL = hint`Check the token URL: ${paylink("config", "set", "tokenUrl", "<url>")}`;

/** Throws `unauthorized` for every answer without a usable token. `effect` is that of the request that needs the token. */
async function requestToken(
  { credentials, send, now, timeout }: CredentialParts,
  effect: Effect,
): Promise<AccessToken> {
  const url = parseWebAddress(credentials.tokenUrl);
  if (url === undefined || isExposed(url))
    throw new PaylinkError(
      "usage",
      `The token URL ${credentials.tokenUrl} is not https, and paylink sends a secret only over https. Nothing was sent.`,
    );
  const { headers, body } = messageFor(credentials);
  const asked = now();
  const reply = await send(
    { method: "POST", ...addressOf(url), headers, body: new TextEncoder().encode(body) },
    { timeout, clientCertificate: credentials.clientCertificate },
  ).catch((error: unknown) => {
    throw error instanceof SendError ? notReached(error, effect, TOKEN_URL) : error;
  });
  const { status } = reply;
  if (status < 200 || status > 299) throw refusedToken(url, reply, effect);
  return tokenFrom(url, reply, { asked, anyType: credentials.anyType, effect });
}

/** The fields of the request; those that the user has set replace the others. */
function messageFor({ auth, clientId, clientSecret, scope, params }: ClientCredentials) {
  const fields = new URLSearchParams({ grant_type: "client_credentials" });
  if (scope !== undefined) fields.set("scope", scope);
  if (auth === "post" || auth === "json") {
    fields.set("client_id", clientId);
    fields.set("client_secret", clientSecret);
  }
  for (const [name, value] of new URLSearchParams(params)) fields.set(name, value);
  const isJson = auth === "json";
  const headers: HeaderLine[] = [
    ["Accept", "application/json"],
    ["Content-Type", isJson ? "application/json" : "application/x-www-form-urlencoded"],
  ];
  if (auth === "basic") headers.push(basic(formEncoded(clientId), formEncoded(clientSecret)));
  if (auth === "basic-plain") headers.push(basic(clientId, clientSecret));
  return { headers, body: isJson ? JSON.stringify(Object.fromEntries(fields)) : fields.toString() };
}

const basic = (user: string, password: string): HeaderLine => [
  "Authorization",
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
];

/** RFC 6749 appendix B. */
const formEncoded = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1);

function tokenFrom(
  url: URL,
  reply: HttpReply,
  { asked, anyType, effect }: { readonly asked: Date; readonly anyType: boolean; readonly effect: Effect },
): AccessToken {
  const answer = parseJsonObject(new TextDecoder().decode(reply.body));
  const token = answer === undefined ? undefined : memberOf(answer, "access_token");
  if (answer === undefined || typeof token !== "string" || token === "")
    throw refusedToken(url, reply, effect, wordsWithoutToken(reply, answer));
  const type = memberOf(answer, "token_type");
  // Some services write "bearer" or "BearerToken", or leave the type out (RFC 6749 5.1 requires it).
  if (!anyType && typeof type === "string" && !/^bearer/i.test(type))
    throw new PaylinkError(
      "unauthorized",
      `${url.origin} gave an access token of the type ${JSON.stringify(type)}, and paylink sends bearer tokens.`,
      {
        details: { status: reply.status, tokenType: type },
        effect,
        hints: [
          hint`If the service accepts it in a header, set that header: ${paylink("config", "set", "authHeader", `Authorization: ${type} {token}`)}`,
        ],
      },
    );
  const expires = expiryOf(answer, asked);
  return expires === undefined ? { token: usableToken(token) } : { token: usableToken(token), expires };
}

/** A 2xx answer may hold a token under another name, so it is described and not repeated. */
function wordsWithoutToken({ body }: HttpReply, answer: JsonObject | undefined): ServiceWords {
  const words = serviceWords(body);
  if (answer !== undefined) {
    const names = Object.keys(answer).join(", ") || "nothing";
    return { ...words, text: wordsOf(answer).text ?? `JSON without access_token. It has ${names}` };
  }
  return words.isPage
    ? words
    : {
        ...words,
        text: `a body that is not a JSON object (${body.length} bytes)`,
        code: undefined,
        problems: [],
      };
}

/** Longer than any token lasts, and within the range of a date. */
const LONGEST_LIFE = 1e10;

/** The time when the token expires; undefined if the service did not give it as a number of seconds. */
function expiryOf(answer: JsonObject, asked: Date): string | undefined {
  const seconds = secondsOf(memberOf(answer, "expires_in"));
  return seconds === undefined ? undefined : new Date(asked.getTime() + seconds * 1000).toISOString();
}

function secondsOf(value: Json | undefined): number | undefined {
  const text = isJsonNumber(value) || typeof value === "string" ? value.toString().trim() : "";
  const seconds = text === "" ? Number.NaN : Number(text);
  return seconds >= 0 && seconds <= LONGEST_LIFE ? seconds : undefined;
}

/** Refuses characters that a header cannot have, and spaces, which would end the token there. */
export function usableToken(token: string): string {
  const trimmed = token.trim();
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  throw new PaylinkError(
    "no_token",
    "The access token contains a space or a character that tokens cannot have. Nothing was sent.",
  );
}

/** A wrong address, a fault and an overload say nothing about the credentials. */
function codeOf(reply: HttpReply, { isPage }: ServiceWords): FailureCode {
  const { status } = reply;
  if (isOverloaded(reply, false)) return "overloaded";
  if (status >= 300 && status < 400) return "redirected";
  if (status >= 500) return "not_reached";
  return isElsewhere(status) || (isPage && status < 300) ? "refused" : "unauthorized";
}

/** Nothing is there, or nothing that takes a POST (RFC 9110 15.5.5, 15.5.6, 15.5.11). */
const isElsewhere = (status: number): boolean => [404, 405, 410].includes(status);

/** The failure for an answer without a token. */
function refusedToken(
  url: URL,
  reply: HttpReply,
  effect: Effect,
  words = serviceWords(reply.body),
): PaylinkError {
  const code = codeOf(reply, words);
  const hints = code === "overloaded" ? waitHints(reply) : nextSteps(code, words);
  return new UnusableAnswer(
    code,
    `${url.origin} gave no access token. It ${answeredWith(reply, words)}`,
    { status: reply.status, words },
    { effect, hints },
  );
}

function nextSteps(failure: FailureCode, { text, code = "", isPage }: ServiceWords): readonly Hint[] {
  if (failure === "not_reached") return [hint`The token endpoint failed. Run the command again later.`];
  if (failure !== "unauthorized" || isPage) return [TOKEN_URL];
  if (/scope/i.test(`${code} ${text}`))
    return [
      hint`Set the scope that the service expects: ${paylink("config", "set", "tokenScope", "<scope>")}`,
    ];
  return [
    hint`Check the client id and the client secret: ${paylink("login", "--client-id", "<id>")}`,
    hint`If they are right, the service may expect them elsewhere in the request: ${paylink("config", "set", "tokenAuth", "post")}`,
  ];
}
