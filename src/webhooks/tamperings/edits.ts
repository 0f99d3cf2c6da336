/** Changes to a finished webhook: its header lines, and its body under the same headers. */
import type { HeaderLine, HttpRequest } from "../../http/message.ts";

/** What becomes of a field's value; undefined drops the line. */
type Change = (value: string) => string | undefined;

export function changed(request: HttpRequest, name: string, change: Change): HttpRequest {
  return { ...request, headers: changedLines(request.headers, name, change) };
}

export function changedLines(headers: readonly HeaderLine[], name: string, change: Change): HeaderLine[] {
  return headers.flatMap(([spelled, value]): HeaderLine[] => {
    if (spelled.toLowerCase() !== name) return [[spelled, value]];
    const now = change(value);
    return now === undefined ? [] : [[spelled, now]];
  });
}

export const without = (request: HttpRequest, ...names: string[]): HttpRequest =>
  names.reduce((rest, name) => changed(rest, name, () => undefined), request);

export const plus = (request: HttpRequest, ...lines: HeaderLine[]): HttpRequest => ({
  ...request,
  headers: [...request.headers, ...lines],
});

/** Content-Length is kept right. */
export const withBody = (request: HttpRequest, body: Uint8Array): HttpRequest => ({
  ...changed(request, "content-length", () => String(body.length)),
  body,
});

/** The body's text with what the pattern finds replaced, its other bytes as they are. */
export const edited = (body: Uint8Array, pattern: RegExp, replacement: string): Uint8Array =>
  Buffer.from(Buffer.from(body).toString("latin1").replace(pattern, replacement), "latin1");

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
