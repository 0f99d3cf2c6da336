/** Certificates, made for each test: self-signed, and issued by a private authority. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** Writes `tls.pem` and `tls.key` into the folder, over those of an earlier call; with a private key for which it is. */
export function selfSigned(folder: string, name: string, privatePem?: string): CertificateFiles {
  const files = { cert: join(folder, "tls.pem"), key: join(folder, "tls.key") };
  certify(files, name, { privatePem });
  return files;
}

interface Issued {
  readonly days?: number;
  readonly privatePem?: string;
}

/** A certificate for the names, and the authority that issued it. */
export function privatelyIssued(
  folder: string,
  names: readonly string[],
  { days = 1, privatePem }: Issued = {},
): CertificateFiles & { ca: string } {
  const files = { cert: join(folder, "server.pem"), key: join(folder, "server.key") };
  const authority = authorityIn(folder);
  // It may be made a second earlier, and must not end first.
  certify(authority, "Private test authority", { days: days + 1 });
  const altNames = `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`;
  const extensions = ["-addext", altNames, "-addext", "basicConstraints=critical,CA:FALSE"];
  certify(files, names[0] ?? "", { days, privatePem, authority, extensions });
  return { ca: authority.cert, ...files };
}

const authorityIn = (folder: string): CertificateFiles => ({
  cert: join(folder, "ca.pem"),
  key: join(folder, "ca.key"),
});

interface Certified {
  readonly days?: number;
  /** A new elliptic one is made without it, because a new RSA key takes longer than most tests. */
  readonly privatePem?: string | undefined;
  /** Who signs it; itself without one. */
  readonly authority?: CertificateFiles;
  readonly extensions?: readonly string[];
}

function certify(
  { cert, key }: CertificateFiles,
  name: string,
  { days = 1, privatePem, authority, extensions = [] }: Certified,
): void {
  if (privatePem !== undefined) writeFileSync(key, privatePem);
  const elliptic = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key];
  const keyed = privatePem === undefined ? elliptic : ["-key", key];
  const signed = authority === undefined ? [] : ["-CA", authority.cert, "-CAkey", authority.key];
  const request = ["req", "-x509", "-days", String(days), "-subj", `/CN=${name}`, "-out", cert];
  execFileSync("openssl", [...request, ...keyed, ...signed, ...extensions], { stdio: "ignore" });
}
