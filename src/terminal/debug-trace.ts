/** Watches every exchange: remembers its secrets, so that none is printed, and shows it with `--debug`. */
import { messageOf } from "../values/system-reason.ts";
import { millisecondsSince, type Timers } from "../values/timers.ts";
import type { Handler, Send, Serve } from "../http/exchange.ts";
import { fieldLines, type HeaderLine, type HttpReply, type HttpRequest, targetUri } from "../http/message.ts";
import { maskCardNumbers } from "../domain/card-numbers.ts";
import { proxyFor, type ProxySettings } from "../http/proxies.ts";
import { anySpelling, escapesIn } from "../values/secret-spellings.ts";
import { withoutPassword } from "../values/url-passwords.ts";
import { withoutSecrets } from "../values/hidden-secrets.ts";
import { isSecretName, REDACTED } from "../values/secrets.ts";
import { safeText } from "../render/safe-text.ts";
import { clip } from "../render/width.ts";

export interface Trace {
  readonly secrets: Secrets;
  readonly timers: Pick<Timers, "elapsed">;
  readonly proxies: ProxySettings;
  /** Shows one message; undefined without `--debug`. */
  readonly show: ((text: string) => void) | undefined;
}

/** Remembers the token before it is sent, because an error may repeat it. */
export function traceSend(send: Send, { secrets, timers, proxies, show }: Trace): Send {
  return async (request, options) => {
    learnHeaders(request.headers, secrets);
    const started = timers.elapsed();
    show?.(renderRequest(request, "→"));
    try {
      const isShown = show !== undefined && options?.insecure !== true;
      const proxy = isShown ? proxyFor(new URL(targetUri(request)), proxies) : undefined;
      if (proxy !== undefined) show?.(`  through the proxy ${withoutPassword(proxy)}`);
      const reply = await send(request, options);
      learnTokens(reply.body, secrets);
      show?.(renderReply(reply, "←", millisecondsSince(timers, started)));
      return reply;
    } catch (error) {
      show?.(`← ${messageOf(error)}`);
      throw error;
    }
  };
}

export function traceServe(serve: Serve, { show, timers }: Trace): Serve {
  if (show === undefined) return serve;
  return (handler, options) => {
    const traced: Handler = async (request) => {
      const received = timers.elapsed();
      show(renderRequest(request, "⇒"));
      const reply = await handler(request);
      show(renderReply(reply, "⇐", millisecondsSince(timers, received)));
      return reply;
    };
    const { refused } = options;
    return serve(traced, {
      ...options,
      refused: (refusal, head) => {
        if (head !== undefined) show(renderRequest({ ...head, body: new Uint8Array() }, "⇒"));
        show(renderReply({ status: refusal.status, headers: [] }, "⇐", 0));
        refused?.(refusal, head);
      },
    });
  };
}

function learnHeaders(headers: readonly HeaderLine[], { know }: Secrets): void {
  for (const value of fieldLines(headers, "authorization")) {
    const [, scheme = "", credentials = ""] = /^(\S+) +(\S+)$/.exec(value) ?? [];
    know(credentials);
    if (scheme.toLowerCase() === "basic") know(Buffer.from(credentials, "base64").toString().split(":")[1]);
  }
}

/** The tokens in the answer of a token endpoint (RFC 6749 5.1). */
function learnTokens(body: Uint8Array, { know }: Secrets): void {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString("latin1");
  for (const [, token] of text.matchAll(/"(?:access|refresh|id)_token"\s*:\s*"([^"]+)"/g)) know(token);
}

export interface Secrets {
  readonly know: (secret: string | undefined) => void;
  /** Replaces each known secret in the text. */
  readonly hide: (text: string) => string;
}

/** Shorter texts are not secrets, and would match everywhere. */
const SHORTEST = 4;

export function createSecrets(): Secrets {
  const known = new Set<string>();
  const spellings = new Map<string, RegExp>();
  return {
    know: (secret) => {
      const text = secret?.trim() ?? "";
      if (text.length < SHORTEST || known.has(text)) return;
      known.add(text);
      spellings.clear();
    },
    hide: (text) => {
      if (known.size === 0) return text;
      const escapes = escapesIn(text);
      const spelled = spellings.get(escapes) ?? spellingsOf(known, escapes);
      spellings.set(escapes, spelled);
      return text.replace(spelled, REDACTED);
    },
  };
}

/** The longest first: one secret may begin with another one. */
const spellingsOf = (secrets: ReadonlySet<string>, escapes: string): RegExp =>
  new RegExp(
    [...secrets]
      .toSorted((one, other) => other.length - one.length)
      .map((secret) => anySpelling(secret, escapes))
      .join("|"),
    "gu",
  );

/** The characters of a body to show. */
const SHOWN_BODY = 4000;

export function renderRequest(request: HttpRequest, arrow: string): string {
  const line = `${arrow} ${request.method} ${redact(targetUri(request))}`;
  return message(line, request.headers, request.body);
}

function renderReply(
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

const redact = (text: string): string => withoutSecrets(maskCardNumbers(text));
