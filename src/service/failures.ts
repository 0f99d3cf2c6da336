/** Turns error replies and failed exchanges into failures that say what happened to the money. */
import {
  FAILURES,
  hint,
  paylink,
  PaylinkError,
  type Effect,
  type FailureCode,
  type Hint,
} from "../domain/errors.ts";
import { formatRelative } from "../domain/time.ts";
import {
  ClosedWithoutAnswer,
  isOfUnknownAuthority,
  SandboxNotRunning,
  SendError,
  systemCode,
} from "../http/exchange.ts";
import { fieldLines, type HttpReply } from "../http/message.ts";
import { serviceWords } from "./words.ts";

/** The outcome of a request that changes nothing cannot be unknown. */
const HARMLESS: ReadonlySet<Effect> = new Set<Effect>(["list", "show", "read", "control"]);

/** The failure for a reply other than 2xx. `link` is the id of the link that the request names. */
export function refusalOf(reply: HttpReply, effect: Effect, link?: string): PaylinkError {
  const { options, message } = answerOf(reply, link);
  const code = codeOf(reply, effect);
  const hints = code === "outcome_unknown" ? whenUnknown(effect, link) : nextSteps(reply, code, effect, link);
  return new PaylinkError(code, message, { ...options, effect, hints });
}

function codeOf({ status }: HttpReply, effect: Effect): FailureCode {
  if (status >= 300 && status < 400) return "redirected";
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 429 || status === 503) return "overloaded";
  if (status >= 400 && status < 500) return "refused";
  return HARMLESS.has(effect) ? "not_reached" : "outcome_unknown";
}

/** The failure for a 2xx reply whose body reports an error. */
export function reportedError(reply: HttpReply, effect: Effect): PaylinkError {
  const { options, message } = answerOf(reply);
  return new PaylinkError("refused", message, { ...options, effect });
}

/** What the service answered, in its own words. */
function answerOf(reply: HttpReply, link?: string) {
  const { text, code, problems } = serviceWords(reply.body);
  const target = redirectTarget(reply);
  return {
    message: `The service ${answeredWith(reply, text)}`,
    options: {
      problems,
      details: {
        status: reply.status,
        service: text,
        ...(link === undefined ? {} : { link }),
        ...(code === undefined ? {} : { code }),
        ...(target === undefined ? {} : { location: target }),
      },
    },
  };
}

const redirectTarget = ({ status, headers }: HttpReply): string | undefined =>
  status >= 300 && status < 400 ? fieldLines(headers, "location")[0] : undefined;

/** "answered 404: not found", with the target of a redirect instead of the text. */
export function answeredWith(reply: HttpReply, text: string): string {
  const target = redirectTarget(reply);
  const words = target === undefined ? text : `a redirect to ${target}`;
  return `answered ${reply.status}${words === "" ? "." : `: ${words}`}`;
}

/** The next steps after `outcome_unknown`. */
export function whenUnknown(effect: Effect, link = ""): readonly Hint[] {
  if (effect === "pay") return [hint`Look at the sandbox's dashboard before paying it again.`];
  if (effect === "update" || effect === "cancel") return [hint`To see it: ${paylink("links", "show", link)}`];
  return FAILURES.outcome_unknown.hints;
}

/** Shows the settings that an address is made of. */
export const checkAddress = (...keys: readonly string[]): Hint =>
  hint`Check the address: ${keys.flatMap((key, index) => [index === 0 ? "" : "; ", paylink("config", "get", key)])}`;

/** The next steps after a refusal; undefined if those of the code are right. */
function nextSteps(
  reply: HttpReply,
  code: FailureCode,
  effect: Effect,
  link = "",
): readonly Hint[] | undefined {
  const { status } = reply;
  if (effect === "pay") return [];
  const wait = askedWait(reply);
  if (code === "overloaded" && wait !== undefined)
    return [hint`The service asks to wait: run the command again ${wait}.`];
  if (status === 403)
    return [hint`The token is valid, but not for this request. Check the terminal: ${paylink("status")}`];
  if (status === 404 && effect === "read")
    return [hint`Check the uti, and the address: ${paylink("config", "get", "transactionUrl")}`];
  if (status === 404 && (effect === "create" || effect === "list"))
    return [checkAddress("baseUrl", "linksPath")];
  if (status === 404 && effect !== "control")
    return [
      hint`The service has no link ${link}, or the account may not see it. To list the links: ${paylink("links", "list")}`,
    ];
  if (code === "refused" && (effect === "update" || effect === "cancel"))
    return [hint`To see the link: ${paylink("links", "show", link)}`];
  return undefined;
}

/** The `Retry-After` of a reply (RFC 9110 10.2.3) in words. */
function askedWait({ headers }: HttpReply): string | undefined {
  const [value] = fieldLines(headers, "retry-after");
  if (value === undefined || !/^\d{1,9}$/.test(value))
    return value === undefined ? undefined : `after ${value}`;
  return formatRelative(new Date(Number(value) * 1000), new Date(0));
}

/** The failure for an exchange without a usable reply. */
export function failureOf(error: unknown, effect: Effect, link?: string): unknown {
  if (!(error instanceof SendError)) return error;
  const { message, sent } = error;
  const step = connectionHint(error);
  if (!sent || HARMLESS.has(effect)) {
    const isStopped = error instanceof SandboxNotRunning;
    const what = isStopped ? "The sandbox is not running." : `The service was not reached: ${message}.`;
    const atSandbox = effect === "pay" ? hint`Is the sandbox running? ${paylink("sandbox")}` : undefined;
    const next = step ?? atSandbox;
    return new PaylinkError("not_reached", what, {
      effect,
      hints: next === undefined ? undefined : [next],
      cause: error,
    });
  }
  return new PaylinkError(
    "outcome_unknown",
    `The request was sent, but no usable answer arrived: ${message}.`,
    {
      effect,
      hints: [...whenUnknown(effect, link), ...(step === undefined ? [] : [step])],
      cause: error,
    },
  );
}

const CLIENT_CERTIFICATE = hint`If the service wants a client certificate, set both files: ${paylink("config", "set", "clientKey", "<file>")}; ${paylink("config", "set", "clientCert", "<file>")}`;

/** What to do if the sandbox does not run, or either side did not accept the other's certificate. */
export function connectionHint(error: unknown): Hint | undefined {
  if (error instanceof SandboxNotRunning) return hint`Start it: ${paylink("sandbox")}`;
  if (!(error instanceof SendError)) return undefined;
  const code = systemCode(error);
  if (isOfUnknownAuthority(error))
    return hint`The service's certificate is not from an authority that Node.js knows. If it is from your own authority, set NODE_EXTRA_CA_CERTS to the PEM file with that authority's certificate.`;
  if (code === "CERT_HAS_EXPIRED")
    return hint`The service's certificate has expired. Check the clock of this machine; otherwise the service must renew it.`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return hint`The service's certificate is for another name. ${checkAddress("baseUrl")}`;
  if (error instanceof ClosedWithoutAnswer) return CLIENT_CERTIFICATE;
  return code.startsWith("ERR_SSL_") && code.includes("_ALERT_")
    ? hint`The service refused the TLS connection. ${CLIENT_CERTIFICATE}`
    : undefined;
}
