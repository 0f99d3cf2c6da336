/** Certificates, made for each test: self-signed, and issued by a private authority. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** Writes `tls.pem` and `tls.key` into the folder, over those of an earlier call. */
export function selfSigned(folder: string, name: string): CertificateFiles {
  const [cert, key] = [join(folder, "tls.pem"), join(folder, "tls.key")];
  const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", `/CN=${name}`];
  execFileSync("openssl", [...request, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { cert, key };
}

/** A certificate for the names, and the authority that issued it. */
export function privatelyIssued(
  folder: string,
  names: readonly string[],
  days = 1,
): CertificateFiles & { ca: string } {
  const [ca, caKey] = [join(folder, "ca.pem"), join(folder, "ca.key")];
  const [cert, key] = [join(folder, "server.pem"), join(folder, "server.key")];
  const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", String(days)];
  const authority = ["-subj", "/CN=Private test authority", "-keyout", caKey, "-out", ca];
  execFileSync("openssl", [...request, ...authority], { stdio: "ignore" });
  const altNames = `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`;
  const server = [
    "-subj",
    `/CN=${names[0]}`,
    "-addext",
    altNames,
    "-addext",
    "basicConstraints=critical,CA:FALSE",
  ];
  const issued = ["-CA", ca, "-CAkey", caKey, "-keyout", key, "-out", cert];
  execFileSync("openssl", [...request, ...server, ...issued], { stdio: "ignore" });
  return { ca, cert, key };
}

/** A certificate for a client, issued by the authority that `privatelyIssued` left in the folder. */
export function clientCertificate(folder: string): CertificateFiles {
  const [cert, key] = [join(folder, "client.pem"), join(folder, "client.key")];
  const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=shop"];
  const issued = [
    "-CA",
    join(folder, "ca.pem"),
    "-CAkey",
    join(folder, "ca.key"),
    "-keyout",
    key,
    "-out",
    cert,
  ];
  execFileSync("openssl", [...request, ...issued], { stdio: "ignore" });
  return { cert, key };
}
