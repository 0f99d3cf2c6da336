/** Access tokens: a fixed one, or those that client credentials obtain and renew (RFC 6749 4.4). */
import { PaylinkError, type FailureCode } from "../domain/errors.ts";
import { hint, paylink, type Hint } from "../domain/hint.ts";
import { SendError, type Send } from "../http/exchange.ts";
import { isJsonNumber, memberOf, type JsonObject } from "../values/json.ts";
import { parseJsonObject } from "../values/parse-json.ts";
import { isExposed, parseWebAddress } from "../values/addresses.ts";
import { hasPartOf } from "../values/secret-spellings.ts";
import { addressOf, type HeaderLine, type HttpReply, isRedirect } from "../http/message.ts";
import type { ServiceEffect } from "../domain/operations.ts";
import { waitHints } from "./advice.ts";
import { type AccessToken, isToken, type SharedToken, type TokenClient } from "../settings/token-files.ts";
import {
  answeredWith,
  isCutShort,
  isOverloaded,
  LET_THROUGH,
  notReached,
  refusalInBetween,
  UnusableAnswer,
  waitDetails,
} from "./failures.ts";
import { messageIn, serviceWords, type ServiceWords } from "../http/error-words.ts";

export interface TokenSource {
  /** The current token, unless it is known to have expired. `effect` is that of the request that needs it. */
  current(effect: ServiceEffect): Promise<string>;
  /** A token other than the one that the service refused; undefined if this source cannot renew its token. */
  renew(effect: ServiceEffect, refused?: string): Promise<string | undefined>;
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
  /** Milliseconds; rejects when the run is interrupted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly timeout: number;
  readonly shared: SharedToken;
}

/** A token is renewed this many milliseconds before it expires, since a request takes time. */
const MARGIN = 30_000;

/** A service may end a token when it gives another one, so all processes of an account use the same. */
export function tokensByCredentials(parts: CredentialParts): TokenSource {
  const { shared, now, pause } = parts;
  let held = shared.read();
  let renewal: Promise<string> | undefined;
  /** The token of another process, if it serves, or a new one. */
  const shareOrObtain = async (effect: ServiceEffect, serves: Serves): Promise<string> => {
    const other = shared.read();
    if (other !== undefined && isFresh(other, now()) && serves(other)) held = other;
    else {
      held = await requestToken(parts, effect);
      shared.keep(held);
    }
    return held.token;
  };
  // Many requests at once share one renewal.
  const obtain = (effect: ServiceEffect, serves: Serves): Promise<string> =>
    (renewal ??= shared
      .alone(() => shareOrObtain(effect, serves), pause)
      .finally(() => (renewal = undefined)));
  return {
    current: async (effect) =>
      held !== undefined && isFresh(held, now()) ? held.token : obtain(effect, () => true),
    renew: async (effect, refused) => {
      if (refused === undefined) return obtain(effect, () => false);
      if (held !== undefined && held.token !== refused) return held.token;
      return obtain(effect, ({ token }) => token !== refused);
    },
  };
}

/** Whether a token that another process obtained can be used. */
type Serves = (token: AccessToken) => boolean;

const isFresh = ({ expires }: AccessToken, now: Date): boolean =>
  expires === undefined || Date.parse(expires) - MARGIN > now.getTime();

export interface ClientCredentials extends TokenClient {
  readonly clientSecret: string;
  /** As form fields, which the service documents, or as RFC 6749 2.3.1 recommends. */
  readonly auth: "post" | "basic";
}

const TOKEN_URL = hint`Check the token URL: ${paylink`config set tokenUrl <url>`}`;

/** Throws `unauthorized` for every answer without a usable token. `effect` is that of the request that needs the token. */
async function requestToken(
  { credentials, send, now, timeout }: CredentialParts,
  effect: ServiceEffect,
): Promise<AccessToken> {
  const url = parseWebAddress(credentials.tokenUrl);
  if (url === undefined || isExposed(url))
    throw new PaylinkError(
      "usage",
      `The token URL ${credentials.tokenUrl} is not https, and paylink sends a secret only over https.`,
      { consequence: "Nothing was sent." },
    );
  const { headers, body } = messageFor(credentials);
  const asked = now();
  const reply = await send(
    { method: "POST", ...addressOf(url), headers, body: new TextEncoder().encode(body) },
    { timeout },
  ).catch((error: unknown) => {
    throw error instanceof SendError ? notReached(error, effect, TOKEN_URL) : error;
  });
  const answered = { url, reply, effect, at: now(), secret: credentials.clientSecret };
  if (reply.status < 200 || reply.status > 299) throw refusedToken(answered);
  return tokenFrom(answered, asked);
}

function messageFor({ auth, clientId, clientSecret, scope }: ClientCredentials) {
  const fields = new URLSearchParams({ grant_type: "client_credentials" });
  if (scope !== undefined) fields.set("scope", scope);
  const headers: HeaderLine[] = [
    ["Accept", "application/json"],
    ["Content-Type", "application/x-www-form-urlencoded"],
  ];
  if (auth === "basic") headers.push(basic(formEncoded(clientId), formEncoded(clientSecret)));
  else {
    fields.set("client_id", clientId);
    fields.set("client_secret", clientSecret);
  }
  return { headers, body: fields.toString() };
}

const basic = (user: string, password: string): HeaderLine => [
  "Authorization",
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
];

/** RFC 6749 appendix B. */
const formEncoded = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1);

/** What the token endpoint answered to a request. */
interface TokenAnswer {
  readonly url: URL;
  readonly reply: HttpReply;
  /** When it arrived. */
  readonly at: Date;
  /** Of the request that needs the token. */
  readonly effect: ServiceEffect;
  /** That was sent. */
  readonly secret: string;
}

function tokenFrom(answered: TokenAnswer, asked: Date): AccessToken {
  const { reply } = answered;
  const answer = parseJsonObject(new TextDecoder().decode(reply.body));
  const token = answer === undefined ? undefined : memberOf(answer, "access_token");
  if (answer === undefined || typeof token !== "string" || token === "") {
    const words = serviceWords(reply);
    // It may hold a token under another name, so it is not repeated.
    const isShown = words.isPage || reply.undecoded !== undefined;
    const text = isShown ? words.text : (messageIn(answer ?? null) ?? "a body without access_token");
    throw refusedToken(answered, { ...words, text });
  }
  const expires = tokenExpiry(answer, asked);
  return expires === undefined ? { token: usableToken(token) } : { token: usableToken(token), expires };
}

/** Seconds: longer than any token lasts, and within the range of a date. */
const LONGEST_LIFE = 1e10;

/** The time when the token expires; undefined if the service did not give it as a number of seconds. */
function tokenExpiry(answer: JsonObject, asked: Date): string | undefined {
  const lifetime = memberOf(answer, "expires_in");
  const seconds = isJsonNumber(lifetime) ? Number(lifetime.value) : Number.NaN;
  return seconds >= 0 && seconds <= LONGEST_LIFE
    ? new Date(asked.getTime() + seconds * 1000).toISOString()
    : undefined;
}

/** Refuses characters that a header cannot have, and spaces, which would end the token there. */
function usableToken(token: string): string {
  const trimmed = token.trim();
  if (isToken(trimmed)) return trimmed;
  throw new PaylinkError(
    "no_token",
    "The access token contains a space or a character that tokens cannot have.",
    { consequence: "Nothing was sent." },
  );
}

/** A fault and an overload say nothing about the credentials. */
function tokenFailureCode(reply: HttpReply): FailureCode {
  const { status } = reply;
  if (isOverloaded(reply, false)) return "overloaded";
  if (isRedirect(status)) return "redirected";
  return isCutShort(reply) ? "not_reached" : "unauthorized";
}

/** The answer without its text where that repeats a part of the secret, in whatever spelling. */
function withoutSecret(reply: HttpReply, secret: string): HttpReply {
  const fields = reply.headers.map(([name, value]) => `${name}: ${value}`);
  const said = [...fields, new TextDecoder().decode(reply.body)].join("\n");
  if (!hasPartOf(secret, said)) return reply;
  const text = "an answer that repeats a part of the client secret, and is not shown";
  const headers = reply.headers.filter(([, value]) => !hasPartOf(secret, value));
  return { status: reply.status, headers, body: new TextEncoder().encode(text) };
}

/** The failure for an answer without a token. */
function refusedToken(
  { url, reply: answer, at, effect, secret }: TokenAnswer,
  shown?: ServiceWords,
): PaylinkError {
  const reply = withoutSecret(answer, secret);
  const words = shown === undefined || reply !== answer ? serviceWords(reply) : shown;
  const code = tokenFailureCode(reply);
  const wait = waitDetails(code, reply, at);
  const other = refusalInBetween(reply, words);
  if (other !== undefined)
    return new UnusableAnswer(code, `${url.origin} gave no access token: ${other}`, reply, words, {
      effect,
      hints: [LET_THROUGH, TOKEN_URL],
    });
  const hints = code === "overloaded" ? waitHints(wait) : tokenHints(reply.status, code, words);
  return new UnusableAnswer(
    code,
    `${url.origin} gave no access token. It ${answeredWith(reply, words)}`,
    reply,
    words,
    { effect, hints, details: { ...wait } },
  );
}

function tokenHints(
  status: number,
  failure: FailureCode,
  { text, code = "", isPage, problems }: ServiceWords,
): readonly Hint[] {
  if (failure === "not_reached") return [hint`The token endpoint failed. Run the command again later.`];
  if (failure === "redirected" || isPage || status === 404) return [TOKEN_URL];
  if (/scope/i.test(`${code} ${text} ${problems.map(({ at }) => at).join(" ")}`))
    return [hint`Set the scope that the service expects: ${paylink`config set tokenScope <scope>`}`];
  // Fields of the request: the credentials are to blame only where they are named.
  const isOther =
    problems.length > 0 && !problems.some(({ at, message }) => /client|secret/i.test(`${at} ${message}`));
  if (isOther)
    return [hint`Fix what the token endpoint reports: ${paylink`config list`} shows what was sent.`];
  return [hint`Check the client id and the client secret: ${paylink`login --client-id <id>`}`];
}
