/** Self-signed certificates, made anew for each test. */
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
