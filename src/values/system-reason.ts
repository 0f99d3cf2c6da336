/** What the errors of the operating system, the network and TLS mean, in plain words. */

const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "a part of its path is a file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  EEXIST: "something else has this name",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "its symbolic links form a loop",
  EAI_AGAIN: "the name server does not answer",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EHOSTUNREACH: "no route to the host",
  ENOTFOUND: "the host name is unknown",
  ETIMEDOUT: "timed out",
  UND_ERR_CONNECT_TIMEOUT: "timed out",
  UND_ERR_SOCKET: "the connection was closed",
  ERR_SSL_WRONG_VERSION_NUMBER: "the server does not use TLS at this port",
};

/** Undefined for an error that no system call gave. Several attempts to connect have one error, with the first code. */
export function knownReason(error: unknown): string | undefined {
  const code = codeOf(error);
  // The message of OpenSSL has its file names and numbers too.
  return SYSTEM_REASONS[code] ?? (code.startsWith("ERR_SSL_") ? code : undefined);
}

/** Without the advice that newer versions of Node add to a certificate's problem, for programs run by hand. */
export const systemReason = (error: unknown): string =>
  knownReason(error) ?? messageOf(error).replace(/; if the root CA .*$/s, "");

/** Why a program cannot be started. */
export const programReason = (error: unknown): string =>
  codeOf(error) === "ENOENT" ? "it is not installed, or not in PATH" : systemReason(error);

/** Why a certificate and its private key cannot be used together. */
export const keyPairReason = (error: unknown): string =>
  codeOf(error) === "ERR_OSSL_X509_KEY_VALUES_MISMATCH"
    ? "the key does not belong to the certificate"
    : "one of the two files is not PEM, or the key needs a passphrase";

/** The code of a system call, of OpenSSL or of PostgreSQL (SQLSTATE); empty for other errors. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

/** Whether the error has one of these codes, such as `ENOENT`. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes(codeOf(error));

/** An error's own words, whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
