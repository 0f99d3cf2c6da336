/** Reads members and header fields of a request that a framework, an adapter or an application made, which may be of any type. */
import type { HeaderLine } from "../http/message.ts";

export const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Undefined too where reading it throws: some frameworks parse a body when it is first asked for. */
export function readMember(holder: object, name: string): unknown {
  try {
    return Reflect.get(holder, name);
  } catch {
    return undefined;
  }
}

export function textMember(holder: object, name: string): string | undefined {
  const value = readMember(holder, name);
  return typeof value === "string" ? value : undefined;
}

/**
 * The lines of header fields by name, in pairs or in a Web `Headers`. Adapters write numbers, and add a Content-Length beside the
 * one that arrived, in another spelling of its name. Throws a TypeError that names the field whose value is not text.
 */
export function headerLinesOf(headers: object): HeaderLine[] {
  const fields: readonly unknown[] = isIterable(headers) ? [...headers] : Object.entries(headers);
  const lines: HeaderLine[] = [];
  for (const [at, field] of fields.entries()) {
    if (!Array.isArray(field) || typeof field[0] !== "string")
      throw new TypeError(`headers[${at}] of the request is not a name and value pair.`);
    const [name, value]: readonly [string, unknown] = [field[0], field[1]];
    for (const one of [value].flat()) {
      if (one === undefined || one === null) continue;
      const line: HeaderLine = [name, lineText(one, `headers["${name}"]`)];
      if (!isSameLength(line, lines)) lines.push(line);
    }
  }
  return lines;
}

const isIterable = (value: object): value is Iterable<unknown> => Symbol.iterator in value;

/** RFC 9110 8.6: one that is repeated with the same value is the same. */
const isSameLength = ([name, value]: HeaderLine, lines: readonly HeaderLine[]): boolean =>
  isLength(name) && lines.some(([other, text]) => isLength(other) && text === value);

const isLength = (name: string): boolean => name.toLowerCase() === "content-length";

/** Text, or a number as text. `place` is where it stands in the request. */
export function lineText(value: unknown, place: string): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  throw new TypeError(
    `${place} of the request has the type ${typeof value}. Header values are text: pass them as they arrived.`,
  );
}
