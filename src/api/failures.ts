/** Turns error replies and failed exchanges into failures that say what happened to the money. */
import { PaylinkError } from "../domain/errors.ts";
import { formatRelative } from "../domain/when.ts";
import { SendError } from "../http/exchange.ts";
import { fieldLines, type HttpReply } from "../http/message.ts";
import { serviceWords } from "./service-words.ts";

/** The effect of a request at the service: the outcome of a request that only reads cannot be unknown. */
export type Effect = "creates" | "pays" | "reads";

/** The failure for a reply other than 2xx. */
export function refusalOf(reply: HttpReply, effect: Effect): PaylinkError {
  const { status } = reply;
  const { options, message } = answerOf(reply);
  const failure = { ...options, hint: nextStep(reply, effect) };
  if (status >= 300 && status < 400) return new PaylinkError("redirected", message, failure);
  if (status === 401 || status === 403) return new PaylinkError("unauthorized", message, failure);
  if (status === 429 || status === 503) return new PaylinkError("overloaded", message, failure);
  if (status >= 400 && status < 500) return new PaylinkError("refused", message, failure);
  if (effect === "reads") return new PaylinkError("not_reached", message, failure);
  return new PaylinkError("outcome_unknown", message, { ...options, hint: UNKNOWN_HINT[effect] });
}

/** The failure for a 2xx reply whose body reports an error. */
export function reportedError(reply: HttpReply): PaylinkError {
  const { options, message } = answerOf(reply);
  return new PaylinkError("refused", message, {
    ...options,
    hint: "Nothing was created. Fix what the service reports, then run the command again.",
  });
}

/** What the service answered, in its own words. */
function answerOf(reply: HttpReply) {
  const { status } = reply;
  const { text, code, problems } = serviceWords(reply.body);
  const target = status >= 300 && status < 400 ? fieldLines(reply.headers, "location")[0] : undefined;
  const said = target === undefined ? text : `a redirect to ${target}`;
  return {
    message: `The service answered ${status}${said === "" ? "." : `: ${said}`}`,
    options: {
      problems,
      details: {
        status,
        service: text,
        ...(code === undefined ? {} : { code }),
        ...(target === undefined ? {} : { location: target }),
      },
    },
  };
}

/** The hint of `outcome_unknown` if the request did not create a link. */
const UNKNOWN_HINT: Readonly<Partial<Record<Effect, string>>> = {
  pays: "The link may be paid. Look at the sandbox's dashboard before paying it again.",
};

/** The next step, if the status says more than the code of the failure. */
function nextStep(reply: HttpReply, effect: Effect): string | undefined {
  const { status } = reply;
  if (effect === "pays") return "Nothing was paid.";
  const wait = askedWait(reply);
  if ((status === 429 || status === 503) && wait !== undefined)
    return `Nothing was created. The service asks to wait: run the command again ${wait}.`;
  if (status === 403)
    return "Nothing was created. The token is valid, but not for this request. Check the terminal: paylink status";
  if (effect === "reads" && status === 404)
    return "Check the uti, and the address: paylink config get transactionUrl";
  if (status === 404)
    return "Nothing was created. Check the address: paylink config get baseUrl; paylink config get linksPath";
  return undefined;
}

/** Nothing answers where the sandbox was registered. */
export class SandboxNotRunning extends SendError {}

const NO_EFFECT: Readonly<Record<Effect, string>> = {
  creates: "Nothing was created. ",
  pays: "Nothing was paid. ",
  reads: "",
};

/** The `Retry-After` of a reply (RFC 9110 10.2.3) in words. */
function askedWait({ headers }: HttpReply): string | undefined {
  const [value] = fieldLines(headers, "retry-after");
  if (value === undefined || !/^\d{1,9}$/.test(value))
    return value === undefined ? undefined : `after ${value}`;
  return formatRelative(new Date(Number(value) * 1000), new Date(0));
}

/** The failure for an exchange without a usable reply. */
export function failureOf(error: unknown, effect: Effect): unknown {
  if (!(error instanceof SendError)) return error;
  const { message, sent } = error;
  if (error instanceof SandboxNotRunning)
    return new PaylinkError("not_reached", "The sandbox is not running.", {
      hint: `${NO_EFFECT[effect]}Start it: paylink sandbox`,
      cause: error,
    });
  const notSent =
    certificateHint(error) ?? (effect === "pays" ? "Is the sandbox running? paylink sandbox" : undefined);
  if (effect === "reads" || !sent)
    return new PaylinkError("not_reached", `The service was not reached: ${message}.`, {
      hint: notSent === undefined ? undefined : `Nothing was ${DONE[effect]}. ${notSent}`,
      cause: error,
    });
  return new PaylinkError(
    "outcome_unknown",
    `The request was sent, but no usable answer arrived: ${message}.`,
    {
      hint: UNKNOWN_HINT[effect],
      cause: error,
    },
  );
}

const DONE: Readonly<Record<Effect, string>> = { creates: "created", pays: "paid", reads: "created" };

/** Node's codes for a certificate of an authority that it does not know. */
const UNKNOWN_AUTHORITY =
  /^(?:UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)$/;

/** What to do about a certificate that was not accepted, on either side. */
function certificateHint({ cause }: SendError): string | undefined {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (UNKNOWN_AUTHORITY.test(code))
    return "The service's certificate is not from an authority that Node.js knows. If it is from your own authority, set NODE_EXTRA_CA_CERTS to the PEM file with that authority's certificate.";
  if (code === "CERT_HAS_EXPIRED")
    return "The service's certificate has expired. Check the clock of this machine; otherwise the service must renew it.";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return "The service's certificate is for another name. Check the address: paylink config get baseUrl";
  if (code.startsWith("ERR_SSL_") && code.includes("_ALERT_"))
    return "The service refused the TLS connection. If it wants a client certificate, set both files: paylink config set clientKey <file>; paylink config set clientCert <file>";
  return undefined;
}
