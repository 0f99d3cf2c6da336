/** Where a webhook key comes from: its own text, a URL, or a file. */

/**
 * PEM, JSON (JWK or key set), or the bare base64 of DER, which starts with an ASN.1 sequence. A variable may hold its line
 * breaks as `\n`.
 */
export const isKeyText = (source: string): boolean =>
  source.includes("-----BEGIN ") ||
  /^\s*\{/.test(source) ||
  /^\s*MI(?:[A-Za-z0-9+/=\s]|\\[rn]){100,}$/.test(source);
