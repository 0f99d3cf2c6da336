/** Turns error replies and failed exchanges into failures that say what happened to the money. */
import { type FailureCode, FAILURES, PaylinkError } from "../domain/errors.ts";
import { formatRelative } from "../domain/time.ts";
import {
  ClosedWithoutAnswer,
  isOfUnknownAuthority,
  SandboxNotRunning,
  SendError,
  systemCode,
} from "../http/exchange.ts";
import { fieldLines, type HttpReply } from "../http/message.ts";
import { serviceWords } from "./service-words.ts";

/** The effect of a request at the service: the outcome of a request that only reads cannot be unknown. */
export type Effect = "creates" | "pays" | "updates" | "cancels" | "reads" | "lists" | "shows";

const ONLY_READS: ReadonlySet<Effect> = new Set<Effect>(["reads", "lists", "shows"]);

/** The failure for a reply other than 2xx. `link` is the id of the link that the request names. */
export function refusalOf(reply: HttpReply, effect: Effect, link?: string): PaylinkError {
  const { options, message } = answerOf(reply, link);
  const code = codeOf(reply, effect);
  const hint = code === "outcome_unknown" ? unknownHint(effect, link) : nextStep(reply, code, effect, link);
  return new PaylinkError(code, message, { ...options, hint });
}

function codeOf({ status }: HttpReply, effect: Effect): FailureCode {
  if (status >= 300 && status < 400) return "redirected";
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 429 || status === 503) return "overloaded";
  if (status >= 400 && status < 500) return "refused";
  return ONLY_READS.has(effect) ? "not_reached" : "outcome_unknown";
}

/** The failure for a 2xx reply whose body reports an error. */
export function reportedError(reply: HttpReply, effect: Effect): PaylinkError {
  const { options, message } = answerOf(reply);
  return new PaylinkError("refused", message, { ...options, hint: hintOf("refused", effect) });
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

/** The hint of `outcome_unknown` for other effects than creating a link. */
export function unknownHint(effect: Effect, link = ""): string | undefined {
  if (effect === "pays")
    return "The link may be paid. Look at the sandbox's dashboard before paying it again.";
  if (effect === "updates") return `The link may be changed. To see it: paylink links show ${link}`;
  if (effect === "cancels") return `The link may be cancelled. To see it: paylink links show ${link}`;
  return undefined;
}

/** What did not happen. A command that only reads usually prepares one that creates. */
const DONE: Readonly<Record<Effect, string>> = {
  creates: "created",
  pays: "paid",
  updates: "changed",
  cancels: "cancelled",
  reads: "created",
  lists: "created",
  shows: "created",
};

/** The hint of the code, which is about creating a link, in the words of the effect. */
const hintOf = (code: FailureCode, effect: Effect): string | undefined => {
  const failure = FAILURES[code];
  return "hint" in failure
    ? failure.hint.replace("Nothing was created", `Nothing was ${DONE[effect]}`)
    : undefined;
};

const LINKS_ADDRESS = "Check the address: paylink config get baseUrl; paylink config get linksPath";

/** The next step after a refusal. */
function nextStep(reply: HttpReply, code: FailureCode, effect: Effect, link = ""): string | undefined {
  const { status } = reply;
  const nothing = `Nothing was ${DONE[effect]}.`;
  if (effect === "pays") return nothing;
  const wait = askedWait(reply);
  if (code === "overloaded" && wait !== undefined)
    return `${nothing} The service asks to wait: run the command again ${wait}.`;
  if (status === 403)
    return `${nothing} The token is valid, but not for this request. Check the terminal: paylink status`;
  if (effect === "reads" && status === 404)
    return "Check the uti, and the address: paylink config get transactionUrl";
  if (effect === "lists" && status === 404) return LINKS_ADDRESS;
  if (effect === "shows" && status === 404) return noSuchLink(link);
  if (status === 404)
    return effect === "creates" ? `${nothing} ${LINKS_ADDRESS}` : `${nothing} ${noSuchLink(link)}`;
  if (code === "refused" && (effect === "updates" || effect === "cancels"))
    return `${nothing} To see the link: paylink links show ${link}`;
  return hintOf(code, effect);
}

const noSuchLink = (link: string): string =>
  `The service has no link ${link}, or the account may not see it. To list the links: paylink links list`;

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
  if (error instanceof SandboxNotRunning)
    return new PaylinkError("not_reached", "The sandbox is not running.", {
      hint: `${ONLY_READS.has(effect) ? "" : `Nothing was ${DONE[effect]}. `}Start it: paylink sandbox`,
      cause: error,
    });
  const certificate = certificateHint(error);
  const notSent = certificate ?? (effect === "pays" ? "Is the sandbox running? paylink sandbox" : undefined);
  if (ONLY_READS.has(effect) || !sent)
    return new PaylinkError("not_reached", `The service was not reached: ${message}.`, {
      hint: notSent === undefined ? hintOf("not_reached", effect) : `Nothing was ${DONE[effect]}. ${notSent}`,
      cause: error,
    });
  const unknown = unknownHint(effect, link) ?? FAILURES.outcome_unknown.hint;
  return new PaylinkError(
    "outcome_unknown",
    `The request was sent, but no usable answer arrived: ${message}.`,
    {
      hint: certificate === undefined ? unknown : `${unknown}\n${certificate}`,
      cause: error,
    },
  );
}

const CLIENT_CERTIFICATE =
  "If the service wants a client certificate, set both files: paylink config set clientKey <file>; paylink config set clientCert <file>";

/** What to do if either side did not accept the other's certificate. */
function certificateHint(error: SendError): string | undefined {
  const code = systemCode(error);
  if (isOfUnknownAuthority(error))
    return "The service's certificate is not from an authority that Node.js knows. If it is from your own authority, set NODE_EXTRA_CA_CERTS to the PEM file with that authority's certificate.";
  if (code === "CERT_HAS_EXPIRED")
    return "The service's certificate has expired. Check the clock of this machine; otherwise the service must renew it.";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return "The service's certificate is for another name. Check the address: paylink config get baseUrl";
  if (error instanceof ClosedWithoutAnswer) return CLIENT_CERTIFICATE;
  return code.startsWith("ERR_SSL_") && code.includes("_ALERT_")
    ? `The service refused the TLS connection. ${CLIENT_CERTIFICATE}`
    : undefined;
}
