/** The names of headers, form fields, parameters and members that carry credentials, whose values are never shown. */

/** What messages, pages and logs have in the place of a secret. */
export const REDACTED = "[redacted]";

/** For a regular expression that ignores case. */
const SECRET_NAME_ENDS = [
  "token",
  "secret",
  "passw(?:or)?d",
  "passphrase",
  "assertion",
  "credentials?",
  "authorization",
  "auth",
  "cookie",
  "(?:api|app|access|account|auth|client|merchant|private|secret|shared|subscription)[-_]?key",
].join("|");

/** Base64, base64url or hex of a length that a key has, perhaps quoted or in several lines: what was pasted in the place of a file. */
export const mayBeKeyText = (text: string): boolean =>
  /^[A-Za-z\d+_=-][A-Za-z\d+/_=-]{39,}$/.test(text.replace(/\\[rn]|[\s"'\\]/g, ""));

/** The name of a file for messages. */
export const shownPath = (path: string): string =>
  path.includes("-----BEGIN") || /^\s*[{[]/.test(path) || mayBeKeyText(path)
    ? `a text of ${path.length} characters, which may be a key and is not shown`
    : path;

const SECRET_NAME = new RegExp(`(?:${SECRET_NAME_ENDS})$`, "i");

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);
