/** The certificate and key of `listen`, read at the start and when the files change. */
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { messageOf, keyPairReason } from "../../domain/system-reason.ts";
import type { HttpServer, TlsFiles } from "../../http/exchange.ts";

export interface TlsPaths {
  readonly cert: string;
  readonly key: string;
}

/** Milliseconds between two reads: renewals replace files and links in many ways, and a read finds each of them. */
const READ_INTERVAL = 2_000;

/** Throws `file_unreadable` or `key_invalid`. */
export async function readTls(
  { cert, key }: TlsPaths,
  { readFile }: Pick<Context, "readFile">,
): Promise<TlsFiles> {
  const files = { cert: await readFile(cert, "--tls-cert"), key: await readFile(key, "--tls-key") };
  try {
    createSecureContext({ cert: Buffer.from(files.cert), key: Buffer.from(files.key) });
    return files;
  } catch (error) {
    throw new PaylinkError(
      "key_invalid",
      `${cert} and ${key} cannot be used for https: ${keyPairReason(error)}.`,
      {
        cause: error,
        hints: [hint`Give the certificate chain and its own private key, both as PEM.`],
      },
    );
  }
}

/** Whether services refuse the certificate: it is signed with its own key. */
export function isSelfSigned({ cert }: TlsFiles): boolean {
  const certificate = new X509Certificate(cert);
  return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
}

/** Serves with the files as they are now; files that cannot be used are reported once, and the old ones stay in use. The result stops it. */
export function watchTls(
  paths: TlsPaths,
  inUse: TlsFiles,
  server: Pick<HttpServer, "renewTls">,
  context: Pick<Context, "readFile">,
  warn: (warning: string) => void,
): () => void {
  let known = fingerprint(inUse);
  const read = async (): Promise<void> => {
    let found: string;
    try {
      const files = await readTls(paths, context);
      found = fingerprint(files);
      if (found !== known) server.renewTls(files);
    } catch (error) {
      found = messageOf(error);
      if (found !== known) warn(`The previous certificate stays in use. ${found}`);
    }
    known = found;
  };
  const timer = setInterval(() => void read(), READ_INTERVAL);
  return () => clearInterval(timer);
}

const fingerprint = ({ cert, key }: TlsFiles): string =>
  `${Buffer.from(cert).toString("base64")} ${Buffer.from(key).toString("base64")}`;
