/** Common mistakes of signers in building the signature base (RFC 9421 2.5). */

import type { Signing, SigningVariant } from "./signing.ts";

interface Spelling {
  readonly variant: string;
  /** What the signer did. */
  readonly fault: string;
  readonly spell: (base: string, signing: Signing) => string;
}

const SPELLINGS: readonly Spelling[] = [
  {
    variant: "CRLF between the lines",
    fault: "separated the lines by CRLF instead of LF",
    spell: (base) => base.replaceAll("\n", "\r\n"),
  },
  {
    variant: "the label in @signature-params",
    fault: "put the label in front of the value of @signature-params",
    spell: (base, { label }) => onLine(base, "@signature-params", (params) => `${label}=${params}`),
  },
  {
    variant: "a line break at the end",
    fault: "ended the base with a line break",
    spell: (base) => `${base}\n`,
  },
  {
    variant: "Signature-Input as written",
    fault: "signed Signature-Input as it is written, not in its canonical form",
    spell: (base, { written }) => onLine(base, "@signature-params", () => written),
  },
  {
    variant: "an empty text for an absent query",
    fault: "wrote an absent @query as an empty text instead of ?",
    spell: (base) => onLine(base, "@query", (query) => (query === "?" ? "" : query)),
  },
  {
    variant: "@query without its ?",
    fault: "wrote @query without its question mark",
    spell: (base) => onLine(base, "@query", (query) => query.replace(/^\?/, "")),
  },
  {
    variant: "the default port kept",
    fault: "kept the port that the scheme implies (RFC 9421 2.2.3)",
    spell: withDefaultPort,
  },
  {
    variant: "@target-uri without its path",
    fault: "left the lone / off @target-uri",
    spell: (base) => onLine(base, "@target-uri", (uri) => uri.replace(/^(https?:\/\/[^/]+)\/$/, "$1")),
  },
  {
    variant: "the method in @request-target",
    fault: "wrote @request-target with the method, as the old draft did",
    spell: (base, { request }) =>
      onLine(base, "@request-target", (target) => `${request.method.toLowerCase()} ${target}`),
  },
  {
    variant: "names without quotes",
    fault: "wrote the names of components without quotes",
    spell: (base) => base.replace(/^"([^"\n]+)"/gm, "$1"),
  },
  {
    variant: "no space after the colon",
    fault: "left out the space after the colon",
    spell: (base) => base.replace(/^("[^"\n]+"[^:\n]*): /gm, "$1:"),
  },
  {
    variant: "@signature-params left out",
    fault: "left out the line @signature-params",
    spell: (base) => base.replace(/\n?"@signature-params": [^\n]*$/, ""),
  },
];

export const SPELLING_VARIANTS: readonly SigningVariant[] = SPELLINGS.map(({ variant, fault, spell }) => ({
  kind: "spelling",
  variant: `signer: ${variant}`,
  apply: (signing) => ({ ...signing, spell: (base) => spell(base, signing) }),
  advice: () => `The signer ${fault}; RFC 9421 2.5 defines the signature base. The signer has to fix this.`,
}));

/** The base with another value in the line of one component. */
function onLine(base: string, name: string, change: (value: string) => string): string {
  const start = `"${name}": `;
  const lines = base.split("\n");
  return lines
    .map((line) => (line.startsWith(start) ? start + change(line.slice(start.length)) : line))
    .join("\n");
}

function withDefaultPort(base: string, { request: { scheme } }: Signing): string {
  const port = scheme === "https" ? 443 : 80;
  const authority = onLine(base, "@authority", (host) => `${host}:${port}`);
  return onLine(authority, "@target-uri", (uri) =>
    uri.replace(/^(https?:\/\/[^/:?]+)(?=[/?]|$)/, `$1:${port}`),
  );
}
