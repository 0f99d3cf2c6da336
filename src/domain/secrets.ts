/** The names of headers, form fields, parameters and members that carry credentials, whose values are never shown. */

/** The ends of these names, for a regular expression that ignores case. */
export const SECRET_NAME_ENDS = [
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

const SECRET_NAME = new RegExp(`(?:${SECRET_NAME_ENDS})$`, "i");

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);
