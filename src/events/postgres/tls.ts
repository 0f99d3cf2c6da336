/** TLS to the server by libpq's `sslmode`, whose names have other meanings in the driver. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { hint, PaylinkError } from "../../domain/errors.ts";
import { systemReason } from "../../domain/system-reason.ts";
import type { Environment } from "../../settings/resolved-settings.ts";
import type { ServerAddress } from "./address.ts";

/** How to connect: without TLS, or with it. */
export type Attempt = false | ConnectionOptions;

/** The ways to connect, in order: the next one is tried if the server refuses the previous one. */
export function attemptsFor(address: ServerAddress, env: Environment): readonly Attempt[] {
  const { host, sslMode, sslCert, sslKey } = address;
  // libpq uses no TLS on a Unix socket.
  if (host.startsWith("/") || sslMode === "disable") return [false];
  const own: ConnectionOptions = {
    ...(sslCert === undefined ? {} : { cert: readCertificate("sslcert", sslCert) }),
    ...(sslKey === undefined ? {} : { key: readCertificate("sslkey", sslKey) }),
  };
  const unverified: Attempt = { ...own, rejectUnauthorized: false };
  if (sslMode === "allow") return [false, unverified];
  if (sslMode === "prefer") return [unverified, false];
  const roots = rootCertificates(address, env);
  if (sslMode === "require" && roots === undefined) return [unverified];
  if (sslMode === "verify-full") return [{ ...own, ...requireRoots(roots, sslMode) }];
  return [{ ...own, ...requireRoots(roots, sslMode), checkServerIdentity: () => undefined }];
}

/** An empty object stands for the certificates that Node trusts. */
type Roots = Pick<ConnectionOptions, "ca">;

function rootCertificates({ sslRootCert }: ServerAddress, env: Environment): Roots | undefined {
  if (sslRootCert === "system") return {};
  if (sslRootCert !== undefined) return { ca: readCertificate("sslrootcert", sslRootCert) };
  try {
    return { ca: readFileSync(join(env["HOME"] ?? "", ".postgresql", "root.crt")) };
  } catch {
    return undefined;
  }
}

function requireRoots(roots: Roots | undefined, sslMode: string): Roots {
  if (roots !== undefined) return roots;
  throw new PaylinkError(
    "usage",
    `sslmode=${sslMode} needs the certificate of the authority that signed the server's.`,
    {
      hints: [
        hint`Add sslrootcert=<file> to the URL of the event store, or sslrootcert=system for a public authority.`,
      ],
    },
  );
}

function readCertificate(parameter: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new PaylinkError("file_unreadable", `${parameter} ${path}: ${systemReason(error)}.`, {
      cause: error,
    });
  }
}
