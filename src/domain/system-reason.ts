/** What the errors of the operating system, the network and TLS mean, in plain words. */
import { messageOf } from "./errors.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EIO: "the disk reports an error",
  EMFILE: "too many files are open",
  EADDRNOTAVAIL: "this machine does not have the address",
  EAI_AGAIN: "the host name could not be looked up",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  ENOTFOUND: "the host name is unknown",
  EPIPE: "the other side closed the connection",
  ERR_SSL_WRONG_VERSION_NUMBER: "the answer is not TLS, so the address may be http instead of https",
  ETIMEDOUT: "connecting took too long",
  UND_ERR_CONNECT_TIMEOUT: "connecting took too long",
  UND_ERR_SOCKET: "the connection was closed",
};

/** Undefined for an error that no system call gave. Several attempts to connect have one error, with the reason of each. */
export function knownReason(error: unknown): string | undefined {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(systemReason))].join("; ");
  const code = codeOf(error);
  return REASONS[code] ?? (code.startsWith("ERR_SSL_") ? tlsReason(error) : undefined);
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

/** Empty if it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

/** The message of OpenSSL has its file names and numbers too. */
const tlsReason = (error: unknown): string | undefined =>
  error instanceof Error && "reason" in error ? `TLS failed: ${String(error.reason)}` : undefined;
