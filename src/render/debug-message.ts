/** Shows HTTP messages for `--debug`, with credentials as `[redacted]`. */
import { maskCardNumbers } from "../domain/card-number.ts";
import { isSecretName, SECRET_NAME_ENDS } from "../domain/secret-names.ts";
import { fieldLines, targetUri, type HeaderLine, type HttpReply, type HttpRequest } from "../http/message.ts";
import { clip, safeText } from "./safe-text.ts";

export const REDACTED = "[redacted]";

/** Credentials in JSON bodies, forms and query strings, by their names. */
const SECRET_MEMBER = new RegExp(`("[\\w-]*(?:${SECRET_NAME_ENDS})"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, "gi");
const SECRET_PARAMETER = new RegExp(`(^|[?&])([\\w.-]*(?:${SECRET_NAME_ENDS}))=[^&\\s]*`, "gi");

/** The characters of a body to show. */
const SHOWN_BODY = 4000;

export function renderRequest(request: HttpRequest, arrow: string): string {
  const line = `${arrow} ${request.method} ${redact(targetUri(request))}`;
  return message(line, request.headers, request.body);
}

export function renderReply(
  { status, headers, body }: Pick<HttpReply, "status" | "headers"> & { readonly body?: Uint8Array },
  arrow: string,
  milliseconds: number,
): string {
  return message(`${arrow} ${status}  (${milliseconds} ms)`, headers, body ?? new Uint8Array());
}

function message(first: string, headers: readonly HeaderLine[], body: Uint8Array): string {
  const lines = headers.map(([name, value]) => `    ${name}: ${headerValue(name, value)}`);
  return [first, ...lines, ...bodyLines(headers, body).map((line) => `    ${line}`)].map(safeText).join("\n");
}

/** The scheme of an `Authorization` is not secret (RFC 9110 11.4). */
function headerValue(name: string, value: string): string {
  if (!isSecretName(name)) return redact(value);
  const [, scheme] = /^([A-Za-z-]+) /.exec(value) ?? [];
  return scheme === undefined ? REDACTED : `${scheme} ${REDACTED}`;
}

function bodyLines(headers: readonly HeaderLine[], body: Uint8Array): string[] {
  if (body.length === 0) return [];
  const [type = ""] = fieldLines(headers, "content-type");
  if (!/json|text|urlencoded/i.test(type)) return [`(${body.length} bytes)`];
  return clip(redact(new TextDecoder().decode(body)), SHOWN_BODY).split("\n");
}

const redact = (text: string): string =>
  maskCardNumbers(text)
    .replace(SECRET_MEMBER, (_, name: string) => `${name}"${REDACTED}"`)
    .replace(SECRET_PARAMETER, (_, before: string, name: string) => `${before}${name}=${REDACTED}`);
