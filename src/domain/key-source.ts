/** Where a webhook key comes from: its own text, a URL, or a file. */

/** PEM, JSON (JWK or key set), or the bare base64 of DER, which starts with an ASN.1 sequence. */
export const isKeyText = (source: string): boolean =>
  /^\s*(?:-----BEGIN |\{)/.test(source) || /^\s*MI[A-Za-z0-9+/=\s]{100,}$/.test(source);
