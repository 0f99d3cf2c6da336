/** Changes to a finished webhook: its header lines, and its body under the same headers. */
import type { HeaderLine, HttpRequest } from "../../http/message.ts";

/** Returns the new value of a field; undefined drops the line. */
type Change = (value: string) => string | undefined;

export function changed(request: HttpRequest, name: string, change: Change): HttpRequest {
  return { ...request, headers: changedLines(request.headers, name, change) };
}

export function changedLines(headers: readonly HeaderLine[], name: string, change: Change): HeaderLine[] {
  return headers.flatMap(([spelled, value]): HeaderLine[] => {
    if (spelled.toLowerCase() !== name) return [[spelled, value]];
    const newValue = change(value);
    return newValue === undefined ? [] : [[spelled, newValue]];
  });
}

export const without = (request: HttpRequest, ...names: string[]): HttpRequest =>
  names.reduce((rest, name) => changed(rest, name, () => undefined), request);

export const plus = (request: HttpRequest, ...lines: HeaderLine[]): HttpRequest => ({
  ...request,
  headers: [...request.headers, ...lines],
});

/** Corrects Content-Length. */
export const withBody = (request: HttpRequest, body: Uint8Array): HttpRequest => ({
  ...changed(request, "content-length", () => String(body.length)),
  body,
});

/** Replaces the match of the pattern and keeps every other byte. */
export const edited = (body: Uint8Array, pattern: RegExp, replace: (match: string) => string): Uint8Array =>
  Buffer.from(Buffer.from(body).toString("latin1").replace(pattern, replace), "latin1");

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
