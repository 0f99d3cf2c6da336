/** Turns error replies and failed exchanges into failures that say what happened to the money. */
import {
  FAILURES,
  PaylinkError,
  type Effect,
  type FailureCode,
  type FailureOptions,
} from "../domain/errors.ts";
import { hint, paylink, type Hint } from "../domain/hint.ts";
import type { Json } from "../domain/json.ts";
import { formatRelative } from "../domain/time.ts";
import {
  isOfUnknownAuthority,
  ProxyFailure,
  SandboxNotRunning,
  SendError,
  SendTimeout,
  systemCode,
} from "../http/exchange.ts";
import { fieldLines, type HttpReply, isRedirect, retryAfter } from "../http/message.ts";
import type { ConfigKey } from "../settings/setting-table.ts";
import { isOwnError, leavesOpen, reportedStatus, serviceWords, type ServiceWords } from "./words.ts";

/** The outcome of a request that changes nothing cannot be unknown. */
export const isHarmless = (effect: Effect): boolean => ["list", "show", "read", "control"].includes(effect);

/** The failure after an answer that is not a success, or not what was asked for. */
export class UnusableAnswer extends PaylinkError {
  /** Whether an API answered, and no web page. */
  readonly isJson: boolean;

  constructor(
    code: FailureCode,
    message: string,
    { status }: HttpReply,
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
        status,
        service: text,
        ...(ownCode === undefined ? {} : { code: ownCode }),
        ...options.details,
      },
    });
    this.isJson = isJson;
  }
}

interface Refused {
  /** The id of the link that the request names. */
  readonly link?: string | undefined;
  /** When the reply arrived; without it, the failure does not say how long to wait. */
  readonly now?: Date;
}

/** The failure for a reply other than 2xx. */
export function failureOfReply(
  reply: HttpReply,
  effect: Effect,
  { link, now }: Refused = {},
): UnusableAnswer {
  const code = replyCode(reply, effect);
  const wait = waitDetails(code, reply, now);
  const hints =
    code === "outcome_unknown" ? whenUnknown(effect, link) : refusalHints(reply, code, effect, wait, link);
  const details = { ...(link === undefined ? {} : { link }), ...wait };
  return unusableReply(code, reply, { effect, hints, details });
}

/** How long an overloaded service asks to wait, in milliseconds: a run that retries by itself reads it. */
export interface WaitDetails {
  readonly retryAfter?: number;
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

function replyCode(reply: HttpReply, effect: Effect): FailureCode {
  const { status } = reply;
  if (isRedirect(status)) return "redirected";
  if (status === 403 || isTokenRefused(reply)) return "unauthorized";
  if (isOverloaded(reply, !isHarmless(effect))) return "overloaded";
  if (status >= 400 && !isCutShort(reply)) return "refused";
  return isHarmless(effect) ? "not_reached" : "outcome_unknown";
}

/** The failure for a 2xx reply whose body reports an error, by the status that the body names, else by its words. */
export function reportedError(
  reply: HttpReply,
  document: Json,
  effect: Effect,
  link?: string,
): UnusableAnswer {
  const code = reportedCode(reply, document, effect);
  const details = link === undefined ? {} : { link };
  return unusableReply(code, reply, {
    effect,
    hints: code === "outcome_unknown" ? whenUnknown(effect, link) : undefined,
    details,
  });
}

function reportedCode(reply: HttpReply, document: Json, effect: Effect): FailureCode {
  const status = reportedStatus(document);
  if (status !== undefined) return replyCode({ ...reply, status }, effect);
  return !isHarmless(effect) && leavesOpen(serviceWords(reply).text) ? "outcome_unknown" : "refused";
}

function unusableReply(code: FailureCode, reply: HttpReply, options: FailureOptions): UnusableAnswer {
  const words = serviceWords(reply);
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

/** The next steps after `outcome_unknown`. */
export function whenUnknown(effect: Effect, link = ""): readonly Hint[] {
  if (effect === "pay") return [hint`Check the sandbox's dashboard before you pay the link again.`];
  if (effect === "update" || effect === "cancel") return [hint`To see it: ${paylink("links", "show", link)}`];
  return FAILURES.outcome_unknown.hints;
}

const checkSetting = (what: string, key: ConfigKey, value: string): Hint =>
  hint`Check ${what}: ${paylink("config", "set", key, value)}`;

const CHECK_TERMINAL = checkSetting("the terminal", "terminalId", "<id>");
const CHECK_SCOPE = checkSetting("the scope of the token", "tokenScope", "<scope>");
const CHECK_ADDRESS = checkSetting("the address of the service", "baseUrl", "<url>");
const CHECK_TRANSACTIONS = checkSetting("the address", "transactionUrl", "<path or URL with {uti}>");

/** For an answer that is not what the address should give. */
export const checkAddress = (effect: Effect): Hint =>
  effect === "read" ? CHECK_TRANSACTIONS : CHECK_ADDRESS;

/** The next steps after a refusal; undefined if those of the code are right. */
function refusalHints(
  reply: HttpReply,
  code: FailureCode,
  effect: Effect,
  wait: WaitDetails,
  link = "",
): readonly Hint[] | undefined {
  const { status } = reply;
  if (effect === "pay") return [];
  if (code === "overloaded") return waitHints(wait);
  if (status === 403) return [CHECK_TERMINAL, CHECK_SCOPE];
  if (status === 404 && effect === "read") return [hint`Check the transaction id (uti).`, CHECK_TRANSACTIONS];
  if (status === 404 && (effect === "create" || effect === "list")) return [CHECK_ADDRESS];
  if (status === 404 && effect !== "control")
    return [
      hint`The service has no link ${link}, or the account may not see it. To list the links: ${paylink("links", "list")}`,
    ];
  // A gateway that sends a request twice passes on the second answer, which refuses what the first one created.
  if (status === 409 && effect === "create")
    return [
      hint`If the order number is already used, look at its link first: ${paylink("links", "list", "--since", "10m")}`,
    ];
  if (code === "refused" && effect === "list") return [CHECK_TERMINAL];
  if (code === "refused" && (effect === "update" || effect === "cancel"))
    return [hint`To see the link: ${paylink("links", "show", link)}`];
  return undefined;
}

/** The longest wait that is named, in milliseconds: nobody waits for longer. */
const LONGEST_NAMED_WAIT = 365 * 86_400_000;

/** The next step after `overloaded`; undefined if the service does not say how long to wait. */
export function waitHints({ retryAfter: wait = Infinity }: WaitDetails): readonly Hint[] | undefined {
  if (wait > LONGEST_NAMED_WAIT) return undefined;
  const when = formatRelative(new Date(wait), new Date(0));
  return [hint`The service asks you to wait: run the command again ${when}.`];
}

/** The failure for an exchange without a usable reply. */
export function failureOfExchange(error: unknown, effect: Effect, link?: string): unknown {
  if (!(error instanceof SendError)) return error;
  if (!error.sent || isHarmless(effect))
    return notReached(
      error,
      effect,
      effect === "pay" ? hint`Is the sandbox running? ${paylink("sandbox")}` : undefined,
    );
  return new PaylinkError(
    "outcome_unknown",
    `The request was sent, but no usable answer arrived: ${error.message}.`,
    { effect, hints: whenUnknown(effect, link), cause: error },
  );
}

/** The failure for a request without effect. `step` is the next one unless the error shows a better one. */
export function notReached(error: SendError, effect: Effect, step?: Hint): PaylinkError {
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
  if (error instanceof SandboxNotRunning) return hint`Start it: ${paylink("sandbox")}`;
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
