/** Finds what changed a body in transit: the variant of it that its Content-Digest matches. */
import { brotliDecompressSync, gunzipSync, gzipSync, inflateSync } from "node:zlib";
import { RAW_BODY_FIXES } from "../../domain/reasons.ts";
import { fieldLines, type HeaderLine, type HttpRequest } from "../../http/message.ts";
import { checkDigest } from "../digest.ts";
import { respellings } from "./json-spellings.ts";
import type { Hint } from "../verdict.ts";

export interface BodyVariant {
  /** Two variants of one kind are not combined. */
  readonly kind: string;
  readonly variant: string;
  readonly advice: string;
  /** Every body that may have been signed, made from the received one. */
  readonly candidates: (body: Buffer, headers: readonly HeaderLine[]) => Iterable<Uint8Array>;
}

const RAW_BYTES = [
  "Verify the bytes as they arrived, before anything parses them:",
  ...Object.values(RAW_BODY_FIXES).map((fix) => `  ${fix}`),
  "  In JavaScript, paylink/webhooks verifies the request of each of them: paylink help webhooks",
].join("\n");

const NEWLINES = ["\n", "\r\n"];

/** Exact changes first: a spelling of JSON could match several of them. */
export const BODY_VARIANTS: readonly BodyVariant[] = [
  {
    kind: "end",
    variant: "trailing newline added",
    advice: `The digest is that of the body without the newline at its end: an editor, a shell or a log added it. ${RAW_BYTES}`,
    candidates: function* (body) {
      for (const newline of NEWLINES)
        if (body.subarray(-newline.length).toString("latin1") === newline)
          yield body.subarray(0, -newline.length);
    },
  },
  {
    kind: "end",
    variant: "trailing newline lost",
    advice: `The digest is that of the body with a newline at its end: something trimmed it. ${RAW_BYTES}`,
    candidates: (body) => NEWLINES.map((newline) => Buffer.concat([body, Buffer.from(newline)])),
  },
  {
    kind: "line-breaks",
    variant: "CRLF",
    advice: `The digest is that of the body with its other line breaks (CRLF for LF, or LF for CRLF): a text mode, an editor or version control changed them. ${RAW_BYTES}`,
    candidates: (body) => {
      const unix = body.toString("latin1").replaceAll("\r\n", "\n");
      return [unix, unix.replaceAll("\n", "\r\n")].map((text) => Buffer.from(text, "latin1"));
    },
  },
  {
    kind: "mark",
    variant: "byte order mark",
    advice: `The digest is that of the body with, or without, a byte order mark at its start. ${RAW_BYTES}`,
    candidates: (body) => [body.subarray(0, 3).equals(MARK) ? body.subarray(3) : Buffer.concat([MARK, body])],
  },
  {
    kind: "charset",
    variant: "body re-encoded",
    advice: `The digest is that of the body in another character encoding (UTF-8 for ISO 8859-1, or the reverse): it was decoded to text and encoded again. ${RAW_BYTES}`,
    candidates: (body) => [
      Buffer.from(body.toString("utf8"), "latin1"),
      Buffer.from(body.toString("latin1"), "utf8"),
    ],
  },
  {
    kind: "wrapping",
    variant: "body encoded twice",
    advice: `The digest is that of the text inside the JSON string that was received: the body was serialised twice. ${RAW_BYTES}`,
    candidates: function* (body) {
      const inner: unknown = attempt(() => JSON.parse(body.toString("utf8")));
      if (typeof inner === "string") yield Buffer.from(inner);
    },
  },
  {
    kind: "coding",
    variant: "gzip added",
    advice:
      "The digest is over the decompressed bytes: something compressed the body after it was signed, or the service digests before it compresses. Turn off compression between the service and this endpoint.",
    candidates: function* (body) {
      for (const decode of [gunzipSync, inflateSync, brotliDecompressSync]) {
        const decoded = attempt(() => decode(body, { maxOutputLength: MAX_DECODED }));
        if (decoded !== undefined) yield decoded;
      }
    },
  },
  {
    kind: "json",
    variant: "body re-serialised",
    advice: `The digest is that of the same JSON in another spelling: the body was parsed and written again. ${RAW_BYTES}`,
    candidates: (body) => respellings(body.toString("utf8")),
  },
  {
    kind: "coding",
    variant: "gzip undone",
    advice: `The digest is over the compressed bytes (RFC 9530 2) and this body is decompressed. Verify before decompressing: with express.raw({ inflate: false }), in Fastify without a decompressing plugin, behind nginx without gunzip. ${RAW_BYTES}`,
    candidates: gzipped,
  },
];

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const MAX_DECODED = 4 * 1024 * 1024;

/** Operating systems as gzip's header names them (RFC 1952 2.3.1): the bytes differ by who compressed. */
const SYSTEMS = [3, 255, 0, 10, 11, 19];

function* gzipped(body: Buffer, headers: readonly HeaderLine[]): Iterable<Uint8Array> {
  const encoding = fieldLines(headers, "content-encoding").join().toLowerCase();
  if (encoding !== "" && !encoding.includes("gzip")) return;
  for (const level of [6, 9, 1, 5, 2, 3, 4, 7, 8]) {
    const bytes = gzipSync(body, { level });
    for (const system of SYSTEMS) {
      bytes[9] = system;
      yield Buffer.from(bytes);
    }
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Limits on the work for one message: bytes hashed, and bodies tried. */
const MAX_HASHED = 64 * 1024 * 1024;
const MAX_BODIES = 20_000;
/** Variants that are combined with a second one: all but those with hundreds of spellings. */
const MAX_FIRST = 600;
/** Bytes that these variants may hold together. */
const MAX_KEPT = 16 * 1024 * 1024;

export interface BodyExplanation {
  readonly hint: Hint;
  /** The body that was signed. */
  readonly body: Uint8Array;
}

/** The first variant, or pair of variants, that the digest matches. */
export function explainBody({ headers, body }: HttpRequest): BodyExplanation | undefined {
  const digest = checkDigest(headers, body);
  if (digest.ok || digest.reason !== "content_digest_mismatch") return undefined;
  const received = Buffer.from(body);
  let budget = Math.min(MAX_BODIES, Math.ceil(MAX_HASHED / (received.length + 1)));
  const maxFirst = Math.min(MAX_FIRST, Math.ceil(MAX_KEPT / (received.length + 1)));
  const matches = (candidate: Uint8Array): boolean => budget-- > 0 && checkDigest(headers, candidate).ok;
  const singles: { variant: BodyVariant; body: Buffer }[] = [];
  for (const variant of BODY_VARIANTS) {
    for (const candidate of variant.candidates(received, headers)) {
      if (matches(candidate)) return { hint: bodyHint([variant]), body: candidate };
      if (budget <= 0) return undefined;
      if (singles.length < maxFirst) singles.push({ variant, body: Buffer.from(candidate) });
    }
  }
  for (const { variant: first, body: changed } of singles) {
    for (const second of BODY_VARIANTS) {
      if (second.kind === first.kind) continue;
      for (const candidate of second.candidates(changed, headers)) {
        if (matches(candidate)) return { hint: bodyHint([first, second]), body: candidate };
        if (budget <= 0) return undefined;
      }
    }
  }
  return undefined;
}

function bodyHint(variants: readonly BodyVariant[]): Hint {
  return {
    variant: variants.map(({ variant }) => variant).join(" + "),
    advice: [...new Set(variants.map(({ advice }) => advice))].join("\n"),
  };
}
