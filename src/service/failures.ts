/** Turns error replies and failed exchanges into failures that say what happened to the money. */
import { PaylinkError, type FailureCode, type FailureOptions } from "../domain/errors.ts";
import { hint, paylink, type Hint } from "../domain/hint.ts";
import type { Json } from "../values/json.ts";
import { isReading, type ServiceEffect } from "../domain/operations.ts";
import {
  isOfUnknownAuthority,
  ProxyFailure,
  SandboxNotRunning,
  SendError,
  SendTimeout,
  systemCode,
} from "../http/exchange.ts";
import { fieldLines, type HttpReply, isRedirect, retryAfter } from "../http/message.ts";
import {
  type About,
  aboutDetails,
  checkAddress,
  NOT_REACHED,
  refusalHints,
  waitHints,
  type WaitDetails,
  whenUnknown,
} from "./advice.ts";
import {
  isOwnError,
  leavesOpen,
  reportedStatus,
  serviceWords,
  type ServiceWords,
} from "../http/error-words.ts";

/** The failure after an answer that is not a success, or not what was asked for. */
export class UnusableAnswer extends PaylinkError {
  /** Whether an API answered, and no web page. */
  readonly isJson: boolean;
  /** Whether something in between refused the request, so that nobody judged the account. */
  readonly isOfAnother: boolean;

  constructor(
    code: FailureCode,
    message: string,
    reply: HttpReply,
    words: ServiceWords,
    options: FailureOptions,
  ) {
    const { text, code: ownCode, problems, isJson } = words;
    super(code, message, {
      ...options,
      problems,
      // A service often names a problem in its text too.
      unnamed: problems.filter(({ at, message: said }) => !text.includes(`${at} ${said}`)),
      details: {
        status: reply.status,
        service: text,
        ...(ownCode === undefined ? {} : { code: ownCode }),
        ...options.details,
      },
    });
    this.isJson = isJson;
    this.isOfAnother = refusalInBetween(reply, words) !== undefined;
  }
}

interface Refused {
  readonly about?: About | undefined;
  /** When the reply arrived; without it, the failure does not say how long to wait. */
  readonly now?: Date;
}

/** The failure for a reply other than 2xx. */
export function failureOfReply(
  reply: HttpReply,
  effect: ServiceEffect,
  { about = {}, now }: Refused = {},
): UnusableAnswer {
  const code = replyCode(reply, effect);
  const wait = waitDetails(code, reply, now);
  const words = serviceWords(reply);
  const details = { ...aboutDetails(about), ...wait };
  const other = refusalInBetween(reply, words);
  if (other !== undefined) {
    const hints = [LET_THROUGH, checkAddress(effect)];
    return new UnusableAnswer(code, `Not the service, but ${other}`, reply, words, {
      effect,
      hints,
      details,
    });
  }
  const hints = hintsFor(code, reply, effect, about, wait);
  return unusableReply(code, reply, words, { effect, hints, details });
}

/**
 * A firewall or a proxy refuses with a page, which says nothing about the token or the terminal: an API answers otherwise. "something in
 * between answered 403: an HTML page with the title …"; undefined for another answer.
 */
export function refusalInBetween(reply: HttpReply, { text, isPage }: ServiceWords): string | undefined {
  if (!isPage || (reply.status !== 401 && reply.status !== 403)) return undefined;
  const [server = ""] = fieldLines(reply.headers, "server");
  return `something in between answered ${reply.status}: ${text}${server === "" ? "" : `, from the server "${server}"`}.`;
}

export const LET_THROUGH = hint`A firewall or a proxy refused the request, so the service never saw the token. Ask the people who run it to allow requests to the service.`;

/** The next steps; undefined if those of the code are right. */
function hintsFor(
  code: FailureCode,
  { status }: HttpReply,
  effect: ServiceEffect,
  about: About,
  wait: WaitDetails,
): readonly Hint[] | undefined {
  if (code === "outcome_unknown") return isReading(effect) ? undefined : whenUnknown(effect, about);
  if (code === "overloaded") return waitHints(wait);
  return code === "refused" || status === 403 ? refusalHints(effect, status, about) : undefined;
}

export function waitDetails(code: FailureCode, reply: HttpReply, now?: Date): WaitDetails {
  const wait = code === "overloaded" && now !== undefined ? retryAfter(reply, now) : undefined;
  return wait === undefined ? {} : { retryAfter: wait };
}

/**
 * Too Many Requests (RFC 6585 4) and Service Unavailable (RFC 9110 15.6.4): nothing was done. A gateway also answers 503 while
 * the service still works on a request that may change something: only an error of the service itself says that it did not.
 */
export const isOverloaded = (reply: HttpReply, mayChange: boolean): boolean =>
  reply.status === 429 || (reply.status === 503 && (!mayChange || isOwnError(reply)));

/**
 * Request Timeout (RFC 9110 15.5.9), Too Early (RFC 8470 5.2), and what gateways answer for a client that has gone (499, 460): layers
 * before the service say so, also after it has begun to work.
 */
const CUT_SHORT: ReadonlySet<number> = new Set([408, 425, 460, 499]);

/** Whether the service may have done what it was asked for. */
export const isCutShort = ({ status }: HttpReply): boolean => status >= 500 || CUT_SHORT.has(status);

/** Some gateways answer 400 to a token that has ended, with the code of RFC 6750 3.1. */
export const isTokenRefused = (reply: HttpReply): boolean =>
  reply.status === 401 ||
  (reply.status === 400 &&
    (serviceWords(reply).code === "invalid_token" ||
      fieldLines(reply.headers, "www-authenticate").some((line) => /\berror="?invalid_token\b/.test(line))));

function replyCode(reply: HttpReply, effect: ServiceEffect): FailureCode {
  const { status } = reply;
  if (isRedirect(status)) return "redirected";
  if (status === 403 || isTokenRefused(reply)) return "unauthorized";
  if (isOverloaded(reply, !isReading(effect))) return "overloaded";
  if (status >= 400 && !isCutShort(reply)) return "refused";
  return isReading(effect) ? "not_reached" : "outcome_unknown";
}

/** The failure for a 2xx reply whose body reports an error, by the status that the body names, else by its words. */
export function reportedError(
  reply: HttpReply,
  document: Json,
  effect: ServiceEffect,
  about: About = {},
): UnusableAnswer {
  const code = reportedCode(reply, document, effect);
  const words = serviceWords(reply);
  const hints = code === "outcome_unknown" && !isReading(effect) ? whenUnknown(effect, about) : undefined;
  return unusableReply(code, reply, words, { effect, hints, details: aboutDetails(about) });
}

function reportedCode(reply: HttpReply, document: Json, effect: ServiceEffect): FailureCode {
  const status = reportedStatus(document);
  if (status !== undefined) return replyCode({ ...reply, status }, effect);
  return !isReading(effect) && leavesOpen(serviceWords(reply).text) ? "outcome_unknown" : "refused";
}

function unusableReply(
  code: FailureCode,
  reply: HttpReply,
  words: ServiceWords,
  options: FailureOptions,
): UnusableAnswer {
  const target = redirectTarget(reply);
  return new UnusableAnswer(code, `The service ${answeredWith(reply, words)}`, reply, words, {
    ...options,
    details: { ...options.details, ...(target === undefined ? {} : { location: target }) },
  });
}

const redirectTarget = ({ status, headers }: HttpReply): string | undefined =>
  isRedirect(status) ? fieldLines(headers, "location")[0] : undefined;

/** "answered 404: not found", with the target of a redirect instead of the text. */
export function answeredWith(reply: HttpReply, { text, code }: ServiceWords): string {
  const target = redirectTarget(reply);
  // A code that repeats the status, or that the text contains, says nothing more.
  const isNew = code !== undefined && code !== String(reply.status) && !text.includes(code);
  const words = target === undefined ? `${text}${isNew ? ` (code ${code})` : ""}` : `a redirect to ${target}`;
  return `answered ${reply.status}${words === "" ? "." : `: ${words}`}`;
}

/** The failure for an exchange without a usable reply. */
export function failureOfExchange(error: unknown, effect: ServiceEffect, about: About = {}): unknown {
  if (!(error instanceof SendError)) return error;
  if (!error.sent || isReading(effect)) return notReached(error, effect, NOT_REACHED[effect]);
  return new PaylinkError(
    "outcome_unknown",
    `The request was sent, but no usable answer arrived: ${error.message}.`,
    { effect, hints: whenUnknown(effect, about), cause: error },
  );
}

/** The failure for a request without effect. `step` is the next one unless the error shows a better one. */
export function notReached(error: SendError, effect: ServiceEffect, step?: Hint): PaylinkError {
  if (error instanceof SendTimeout)
    return new PaylinkError("timed_out", `Timed out: ${error.message}.`, {
      effect,
      hints: [hint`It is safe to run the command again, with a longer --timeout.`],
      cause: error,
    });
  const next = connectionHint(error) ?? step;
  const message =
    error instanceof SandboxNotRunning
      ? "The sandbox is not running."
      : `The service was not reached: ${error.message}.`;
  return new PaylinkError("not_reached", message, {
    effect,
    hints: next === undefined ? undefined : [next],
    cause: error,
  });
}

/** What to do if the sandbox does not run, the proxy fails, or Node does not accept the certificate. */
function connectionHint(error: SendError): Hint | undefined {
  if (error instanceof SandboxNotRunning) return hint`Start it: ${paylink`sandbox`}`;
  if (error.cause instanceof ProxyFailure)
    return error.cause.status === 407
      ? hint`The proxy requires a user name and a password: set HTTPS_PROXY to http://<user>:<password>@<host>:<port>.`
      : hint`Check the proxy in HTTPS_PROXY. For hosts that need no proxy, set NO_PROXY.`;
  if (/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/.test(systemCode(error)))
    return hint`Check the date and time of this machine: by a wrong clock, a valid certificate has expired or is not valid yet.`;
  return isOfUnknownAuthority(error)
    ? hint`Node.js does not trust the authority that issued the service's certificate. If the authority is your own, set NODE_EXTRA_CA_CERTS to a PEM file with its certificate.`
    : undefined;
}
