/** Finds what changed a body in transit: the variant of it that its Content-Digest matches. */
import { brotliDecompressSync, gunzipSync, gzipSync, inflateSync } from "node:zlib";
import { RAW_BODY_FIXES } from "../../domain/reasons.ts";
import { fieldLines, type HttpRequest } from "../../http/message.ts";
import { checkDigest } from "../digest.ts";
import { respellings } from "./json-spellings.ts";
import { explain, type Explanation, type Variant } from "./signing.ts";

const RAW_BYTES = [
  "Verify the bytes as they arrived, before anything parses them:",
  ...Object.values(RAW_BODY_FIXES).map((fix) => `  ${fix}`),
  "  In JavaScript, paylink-webhooks verifies the request of each of them: paylink help webhooks",
].join("\n");

const NEWLINES = ["\n", "\r\n"];

/** Exact changes first: a spelling of JSON could match several of them. */
const BODY_VARIANTS: readonly Variant<Buffer>[] = [
  {
    kind: "end",
    variant: "trailing newline added",
    advice: `The digest is that of the body without the newline at its end: an editor, a shell or a log added it. ${RAW_BYTES}`,
    apply: function* (body) {
      for (const newline of NEWLINES)
        if (body.subarray(-newline.length).toString("latin1") === newline)
          yield body.subarray(0, -newline.length);
    },
  },
  {
    kind: "end",
    variant: "trailing newline lost",
    advice: `The digest is that of the body with a newline at its end: something trimmed it. ${RAW_BYTES}`,
    apply: (body) => NEWLINES.map((newline) => Buffer.concat([body, Buffer.from(newline)])),
  },
  {
    kind: "line-breaks",
    variant: "CRLF",
    advice: `The digest is that of the body with its other line breaks (CRLF for LF, or LF for CRLF): a text mode, an editor or version control changed them. ${RAW_BYTES}`,
    apply: (body) => {
      const unix = body.toString("latin1").replaceAll("\r\n", "\n");
      return [unix, unix.replaceAll("\n", "\r\n")].map((text) => Buffer.from(text, "latin1"));
    },
  },
  {
    kind: "mark",
    variant: "byte order mark",
    advice: `The digest is that of the body with, or without, a byte order mark at its start. ${RAW_BYTES}`,
    apply: (body) => [body.subarray(0, 3).equals(MARK) ? body.subarray(3) : Buffer.concat([MARK, body])],
  },
  {
    kind: "charset",
    variant: "body re-encoded",
    advice: `The digest is that of the body in another character encoding (UTF-8 for ISO 8859-1, or the reverse): it was decoded to text and encoded again. ${RAW_BYTES}`,
    apply: (body) => [
      Buffer.from(body.toString("utf8"), "latin1"),
      Buffer.from(body.toString("latin1"), "utf8"),
    ],
  },
  {
    kind: "wrapping",
    variant: "body encoded twice",
    advice: `The digest is that of the text inside the JSON string that was received: the body was serialised twice. ${RAW_BYTES}`,
    apply: function* (body) {
      const inner: unknown = attempt(() => JSON.parse(body.toString("utf8")));
      if (typeof inner === "string") yield Buffer.from(inner);
    },
  },
  {
    kind: "coding",
    variant: "gzip added",
    advice:
      "The digest is over the decompressed bytes: something compressed the body after it was signed, or the service digests before it compresses. Turn off compression between the service and this endpoint.",
    apply: function* (body) {
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
    apply: (body) => respellings(body.toString("utf8")),
  },
];

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const MAX_DECODED = 4 * 1024 * 1024;

/** Operating systems as gzip's header names them (RFC 1952 2.3.1): the bytes differ by who compressed. */
const SYSTEMS = [3, 255, 0, 10, 11, 19];

function* gzipped(body: Buffer): Iterable<Buffer> {
  for (const level of [6, 9, 1, 5, 2, 3, 4, 7, 8]) {
    const bytes = gzipSync(body, { level });
    for (const system of SYSTEMS) {
      bytes[9] = system;
      yield Buffer.from(bytes);
    }
  }
}

const GZIP_UNDONE: Variant<Buffer> = {
  kind: "coding",
  variant: "gzip undone",
  advice: `The digest is over the compressed bytes (RFC 9530 2) and this body is decompressed. Verify before decompressing: with express.raw({ inflate: false }), in Fastify without a decompressing plugin, behind nginx without gunzip. ${RAW_BYTES}`,
  apply: gzipped,
};

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
/** Bodies that are changed a second time: those of all variants but the ones with hundreds of spellings. */
const MAX_FIRST = 600;

/** The first variant, or pair of variants, that the digest matches. */
export function explainBody({ headers, body }: HttpRequest): Explanation<Buffer> | undefined {
  const digest = checkDigest(headers, body);
  if (digest.ok || digest.reason !== "content_digest_mismatch") return undefined;
  let budget = Math.min(MAX_BODIES, Math.ceil(MAX_HASHED / (body.length + 1)));
  const encoding = fieldLines(headers, "content-encoding").join().toLowerCase();
  const mayBeGzip = encoding === "" || encoding.includes("gzip");
  return explain(Buffer.from(body), mayBeGzip ? [...BODY_VARIANTS, GZIP_UNDONE] : BODY_VARIANTS, {
    matches: (candidate) => budget-- > 0 && checkDigest(headers, candidate).ok,
    isExhausted: () => budget <= 0,
    maxFirst: MAX_FIRST,
  });
}
