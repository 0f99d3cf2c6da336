/** Turns error replies and failed exchanges into failures that say what happened to the money. */
import { PaylinkError, type Problem } from "../domain/errors.ts";
import {
  isJsonObject,
  memberOf,
  parseJson,
  stringifyJson,
  type Json,
  type JsonObject,
} from "../domain/json.ts";
import { isWebAddress } from "../domain/web-address.ts";
import { SendError } from "../http/exchange.ts";
import type { HttpReply } from "../http/message.ts";

/** The effect of a request at the service: the outcome of a request that only reads cannot be unknown. */
export type Effect = "creates" | "pays" | "reads";

/** The failure for a reply other than 2xx. */
export function refusalOf(reply: HttpReply, effect: Effect): PaylinkError {
  const { status } = reply;
  const said = serviceWords(reply.body);
  const message = `The service answered ${status}${said.text === "" ? "." : `: ${said.text}`}`;
  const hint = nextStep(status, effect);
  const options = { hint, problems: said.problems, details: { status, service: said.text } };
  if (status >= 300 && status < 400) return new PaylinkError("redirected", message, options);
  if (status === 401 || status === 403) return new PaylinkError("unauthorized", message, options);
  if (status === 429 || status === 503) return new PaylinkError("overloaded", message, options);
  if (status >= 400 && status < 500) return new PaylinkError("refused", message, options);
  if (effect === "reads") return new PaylinkError("not_reached", message, options);
  return new PaylinkError("outcome_unknown", message, { ...options, hint: UNKNOWN_HINT[effect] });
}

/**
 * Whether the body of a successful reply is an error, so that no link exists: `error`, or a `code` with a `message`. A body
 * with an id or a web address beside these may be a wrapped link, and a code such as 0 or 200 means success.
 */
export function isError(body: JsonObject): boolean {
  const { error = null, code = null, message, ...others } = body;
  if (mayHoldLink(others)) return false;
  if (error !== null && error !== false && error !== "") return true;
  if (code === null || typeof message !== "string") return false;
  return !/^(?:0+|2\d\d|ok|success)$/i.test(typeof code === "string" ? code : stringifyJson(code));
}

function mayHoldLink(value: Json): boolean {
  if (typeof value === "string") return isWebAddress(value);
  if (Array.isArray(value)) return value.some(mayHoldLink);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([name, member]) => name === "id" || mayHoldLink(member));
}

/** The failure for a successful reply whose body is an error. */
export function errorInside({ status, body }: HttpReply): PaylinkError {
  const said = serviceWords(body);
  return new PaylinkError("refused", `The service answered ${status} with an error: ${said.text}`, {
    problems: said.problems,
    details: { status, service: said.text },
  });
}

/** The hint of `outcome_unknown` if the request did not create a link. */
const UNKNOWN_HINT: Readonly<Partial<Record<Effect, string>>> = {
  pays: "The link may be paid. Look at the sandbox's dashboard before paying it again.",
};

/** The next step, if the status says more than the code of the failure. */
function nextStep(status: number, effect: Effect): string | undefined {
  if (effect === "pays") return "Nothing was paid.";
  if (status === 403)
    return "Nothing was created. The token is valid, but not for this request. Check the terminal: paylink status";
  if (effect === "reads" && status === 404)
    return "Check the uti, and the address: paylink config get transactionUrl";
  if (status === 404) return "Nothing was created. Check the base URL: paylink config get baseUrl";
  return undefined;
}

/** Nothing answers where the sandbox was registered. */
export class SandboxNotRunning extends SendError {}

const NO_EFFECT: Readonly<Record<Effect, string>> = {
  creates: "Nothing was created. ",
  pays: "Nothing was paid. ",
  reads: "",
};

/** The failure for an exchange without a usable reply. */
export function failureOf(error: unknown, effect: Effect): unknown {
  if (!(error instanceof SendError)) return error;
  const { message, sent } = error;
  if (error instanceof SandboxNotRunning)
    return new PaylinkError("not_reached", "The sandbox is not running.", {
      hint: `${NO_EFFECT[effect]}Start it: paylink sandbox`,
      cause: error,
    });
  const hint = effect === "pays" ? "Nothing was paid. Is the sandbox running? paylink sandbox" : undefined;
  if (effect === "reads" || !sent)
    return new PaylinkError("not_reached", `The service was not reached: ${message}.`, {
      hint,
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

interface ServiceWords {
  readonly text: string;
  readonly problems: readonly Problem[];
}

const SHOWN_TEXT = 500;

/** The error text of a service, in any common format: RFC 9457, `message`, OAuth, or plain text. */
function serviceWords(body: Uint8Array): ServiceWords {
  const text = new TextDecoder().decode(body).trim();
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value.value))
    return { text: text.slice(0, SHOWN_TEXT), problems: [] };
  const object = parsed.value.value;
  const words = ["detail", "message", "error_description", "title", "error"].map((name) =>
    memberOf(object, name),
  );
  const said = words.find((word) => typeof word === "string") ?? text.slice(0, SHOWN_TEXT);
  return { text: typeof said === "string" ? said : text.slice(0, SHOWN_TEXT), problems: problemsOf(object) };
}

/** The `errors` of a problem document: `{pointer, detail}` (RFC 9457 3, extension members). */
function problemsOf(object: JsonObject): Problem[] {
  const errors = memberOf(object, "errors");
  if (!Array.isArray(errors)) return [];
  return errors
    .filter(isJsonObject)
    .map((error) => ({ at: pointed(memberOf(error, "pointer")), message: word(error) }));
}

const pointed = (pointer: Json | undefined): string =>
  typeof pointer === "string" ? pointer.replace(/^#?\//, "").replaceAll("/", ".") : "";

function word(error: JsonObject): string {
  const said = memberOf(error, "detail") ?? memberOf(error, "message");
  return typeof said === "string" ? said : "";
}
