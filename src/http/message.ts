/** HTTP messages as values: the bytes and header lines that a socket received or will send. */

/**
 * One header line: the name as spelled, the value without outer white space, one character for each octet (latin1).
 * Lines stay in order and are never joined, since both decide whether a signature verifies.
 */
export type HeaderLine = readonly [name: string, value: string];

/** A request without its body: what is known before the body is read. */
export interface RequestHead {
  /** As received: never upper-cased (RFC 9421 2.2.1). */
  readonly method: string;
  readonly scheme: "http" | "https";
  /** Host, and port unless it is the scheme's default; empty if the message names no host that can be trusted. */
  readonly authority: string;
  /** The request target as written on the request line (RFC 9112 3.2), never normalised. */
  readonly target: string;
  readonly headers: readonly HeaderLine[];
}

export interface HttpRequest extends RequestHead {
  readonly body: Uint8Array;
}

/**
 * Lists each member: on Node 20 a spread with another member gives each object its own shape, which makes every use of it
 * several times slower.
 */
export function withBody(
  { method, scheme, authority, target, headers }: RequestHead,
  body: Uint8Array,
): HttpRequest {
  return { method, scheme, authority, target, headers, body };
}

export interface HttpReply {
  readonly status: number;
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array;
  /** Why the body is still in the codings that its fields name; undefined for a body that can be read. */
  readonly undecoded?: string;
}

export const NO_BODY: Uint8Array = new Uint8Array();

/** Node and undici give names and values as one flat list: it hides no line, unlike their other forms. */
export function headerLines(raw: readonly string[]): HeaderLine[] {
  const lines: HeaderLine[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) lines.push([raw[at] ?? "", raw[at + 1] ?? ""]);
  return lines;
}

/** Every line's value of one field, in order; the name in any case. */
export function fieldLines(headers: readonly HeaderLine[], name: string): string[] {
  const lower = name.toLowerCase();
  const values: string[] = [];
  for (const [spelled, value] of headers)
    if (spelled.length === lower.length && spelled.toLowerCase() === lower) values.push(value);
  return values;
}

/** Where a request to this URL goes: scheme, authority and request target. */
export function addressOf(url: URL): Pick<RequestHead, "scheme" | "authority" | "target"> {
  return {
    scheme: url.protocol === "https:" ? "https" : "http",
    authority: url.host,
    target: `${url.pathname}${url.search}`,
  };
}

/** The absolute URI of a request (RFC 9110 7.1): its scheme, authority and unchanged target. */
export function targetUri(request: Pick<RequestHead, "scheme" | "authority" | "target">): string {
  return `${request.scheme}://${request.authority}${request.target}`;
}

/** The URL of a request in a capture: the target alone where the address is not known, as where Host does not name the listener. */
export const capturedUrl = (request: Pick<RequestHead, "scheme" | "authority" | "target">): string =>
  request.authority === "" ? request.target : targetUri(request);

/** Without leading and trailing OWS (RFC 9110 5.6.3); a regular expression would take quadratic time here. */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Whether a status is 2xx (RFC 9110 15.3), with which an application accepts a webhook; null is no answer. */
export const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

/** Whether a status names another address (RFC 9110 15.4); 304 does not: it answers a conditional request. */
export const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304;

/**
 * Milliseconds that `Retry-After` asks for, as seconds or as a date (RFC 9110 10.2.3). A date is read by the sender's own clock,
 * which its `Date` shows, and by this machine's without one; undefined if it has passed.
 */
export function retryAfter({ headers }: HttpReply, now: Date): number | undefined {
  const [value = ""] = fieldLines(headers, "retry-after");
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const [sent = ""] = fieldLines(headers, "date");
  const wait = httpDate(value) - (httpDate(sent) || now.getTime());
  return wait > 0 ? wait : undefined;
}

/** Milliseconds since 1970 of an HTTP-date, which begins with the name of the day; `Date.parse` alone accepts many other texts. */
const httpDate = (text: string): number => (/^[A-Z][a-z]+,? /.test(text) ? Date.parse(text) : Number.NaN);
