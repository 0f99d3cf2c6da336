/** Reads a captured webhook from each of its forms: raw HTTP, JSON, or a line of `listen --json`. */
import * as z from "zod/mini";
import { hint, messageOf, paylink, PaylinkError } from "../../domain/errors.ts";
import type { HeaderLine, HttpRequest } from "../../http/message.ts";
import { parseRequest, type RawRequest } from "../../http/raw-request.ts";

/** The address in the capture itself: that of an absolute `url`. */
export interface CapturedAddress {
  readonly scheme: "http" | "https";
  readonly authority: string;
}

export interface Capture {
  readonly request: RawRequest;
  readonly address?: CapturedAddress;
}

const headerValue = z.union([z.string(), z.pipe(z.number(), z.transform(String))], "must be text");

const headers = z.union(
  [
    z.array(z.tuple([z.string(), headerValue])),
    z.pipe(
      z.record(z.string(), z.union([headerValue, z.array(headerValue)])),
      z.transform((fields) =>
        Object.entries(fields).flatMap(([name, value]): [string, string][] =>
          (Array.isArray(value) ? value : [value]).map((line) => [name, line]),
        ),
      ),
    ),
  ],
  "must be an object, or a list of [name, value] pairs",
);

const text = "must be text";
const base64 = z.pipe(
  z.base64("must be base64"),
  z.transform((encoded) => Buffer.from(encoded, "base64")),
);

const captured = z
  .object({
    method: z.string(text).check(z.regex(/^\S+$/, "must be a method, such as POST")),
    url: z.optional(z.string(text)),
    target: z.optional(z.string(text)),
    headers,
    body: z.optional(
      z.pipe(
        z.string("must be the text exactly as it arrived: a body that was parsed cannot be verified"),
        z.transform((body) => Buffer.from(body)),
      ),
    ),
    bodyBase64: z.optional(base64),
    trailers: z.optional(headers),
  })
  .check(
    z.refine(({ url, target }) => (url ?? target) !== undefined, { path: ["url"], error: "is required" }),
    z.refine(({ body, bodyBase64 }) => body === undefined || bodyBase64 === undefined, {
      path: ["body"],
      error: "must not be given together with bodyBase64",
    }),
  );

/** A stored request, with the address that it was verified against if it had one. */
export function captureFromRequest({ scheme, authority, ...request }: HttpRequest): Capture {
  return authority === "" ? { request } : { request, address: { scheme, authority } };
}

/** Throws `usage` if the bytes are not a webhook. `name` is the file's. */
export function readCapture(bytes: Uint8Array, name: string): Capture {
  const content = new TextDecoder().decode(bytes).trim();
  if (content === "") throw unreadable(name, "is empty");
  if (content.startsWith("{")) return fromJson(content, name);
  const request = parseRequest(bytes);
  if (request !== undefined) return { request };
  throw unreadable(name, "is neither a raw HTTP/1.1 request nor JSON");
}

const unreadable = (name: string, what: string): PaylinkError =>
  new PaylinkError("usage", `${name} ${what}.`, {
    hints: [
      hint`It begins with a request line, such as "POST /webhooks HTTP/1.1", or is JSON: {"method", "url", "headers", "body" or "bodyBase64"}, or a line of: ${paylink("listen", "--json")}`,
    ],
  });

function fromJson(content: string, name: string): Capture {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    const several = /^\{.*\}\s*\n\s*\{/.test(content);
    throw unreadable(
      name,
      several ? "has several events; give the line of one" : `is not JSON: ${messageOf(error)}`,
    );
  }
  if (typeof value === "object" && value !== null && "type" in value && value.type === "rejected")
    throw unreadable(name, 'is a line of type "rejected", which does not hold the webhook');
  const parsed = captured.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => ({ at: path.join("."), message }));
    throw new PaylinkError("usage", `${name} is not a captured webhook.`, { problems });
  }
  const { method, url, target, headers: lines, trailers, body, bodyBase64 } = parsed.data;
  const { address, rest } = splitUrl(target ?? url ?? "", target === undefined);
  const request = {
    method,
    target: rest,
    headers: lines.map(octets),
    ...(trailers === undefined ? {} : { trailers: trailers.map(octets) }),
    body: body ?? bodyBase64 ?? new Uint8Array(),
  };
  return address === undefined ? { request } : { request, address };
}

/** Cut, not parsed: `URL` would normalise what was signed. */
function splitUrl(url: string, mayBeAbsolute: boolean): { rest: string; address?: CapturedAddress } {
  const [, scheme, authority, rest] = /^(https?):\/\/([^/?#]+)(.*)$/is.exec(url) ?? [];
  if (!mayBeAbsolute || scheme === undefined || authority === undefined || rest === undefined)
    return { rest: url };
  const address = { scheme: scheme.toLowerCase() === "http" ? "http" : "https", authority } as const;
  return { rest: rest.startsWith("/") ? rest : `/${rest}`, address };
}

/** One character per octet; text beyond latin1 can only have been UTF-8. */
function octets([name, value]: readonly [string, string]): HeaderLine {
  const latin1 = [...value].every((char) => char.charCodeAt(0) <= 0xff && char.length === 1);
  return [name, latin1 ? value.trim() : Buffer.from(value.trim(), "utf8").toString("latin1")];
}
