/** The certificate and key of `listen`, read at the start and when the files change. */
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { messageOf, keyPairReason } from "../../values/system-reason.ts";
import { UNITS } from "../../values/time.ts";
import type { HttpServer, TlsFiles } from "../../http/exchange.ts";
import { formatLocal } from "../../render/layout.ts";

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

/** Milliseconds before the end of a certificate from which it is said: a renewal that works is done by then. */
const ENDS_SOON = 14 * UNITS.d;

/** The certificates of a file; the first is the server's own. */
const certificatesOf = ({ cert }: TlsFiles): readonly X509Certificate[] =>
  [...Buffer.from(cert).toString("latin1").matchAll(PEM_CERTIFICATE)].map(
    ([pem]) => new X509Certificate(pem),
  );

/** RFC 7468. */
const PEM_CERTIFICATE = /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END \1?CERTIFICATE-----/g;

/** When the first certificate of the file ends. */
export const certificateEnd = (files: TlsFiles): Date =>
  new Date(Math.min(...certificatesOf(files).map(({ validTo }) => Date.parse(validTo))));

/** Why services do not connect because of the dates of a certificate, or soon will not; empty while they do. */
function dateWarnings(files: TlsFiles, now: Date): string[] {
  const begin = new Date(Math.max(...certificatesOf(files).map(({ validFrom }) => Date.parse(validFrom))));
  const end = certificateEnd(files);
  if (end <= now)
    return [`The certificate expired on ${formatLocal(end)}, so services do not deliver to it. ${RENEW}`];
  if (begin > now)
    return [
      `The certificate is not valid before ${formatLocal(begin)}, so services do not deliver to it yet. Is the clock of this machine right?`,
    ];
  return end.getTime() - now.getTime() > ENDS_SOON
    ? []
    : [
        `The certificate expires on ${formatLocal(end)}; from then on, services do not deliver to it. ${RENEW}`,
      ];
}

const RENEW = "Replace the files of --tls-cert and --tls-key; they are read again by themselves.";

/** Whether services refuse the certificate: it is signed with its own key. */
function isSelfSigned(files: TlsFiles): boolean {
  const [own] = certificatesOf(files);
  return own !== undefined && own.checkIssued(own) && own.verify(own.publicKey);
}

const SELF_SIGNED =
  "The certificate is self-signed, so services do not deliver to it. The sandbox does if it runs with --insecure.";

/** Why services refuse the certificate, or soon will. */
export const tlsWarnings = (files: TlsFiles, now: Date): readonly string[] => [
  ...(isSelfSigned(files) ? [SELF_SIGNED] : []),
  ...dateWarnings(files, now),
];

/** Who is told what `watchTls` sees. */
interface TlsObserver {
  readonly warn: (warning: string) => void;
  /** When the certificate that is served now ends. */
  readonly serves: (end: Date) => void;
}

/**
 * Serves with the files as they are now; files that cannot be used are reported once, and the old ones stay in use. What the dates
 * of the certificate come to is said again once a day. The result stops it.
 */
export function watchTls(
  paths: TlsPaths,
  inUse: TlsFiles,
  server: Pick<HttpServer, "renewTls">,
  { now, ...context }: Pick<Context, "readFile" | "now">,
  { warn, serves }: TlsObserver,
): () => void {
  let served = inUse;
  let known = fingerprint(inUse);
  let warnedAt = now();
  const say = (warnings: readonly string[]): void => {
    warnedAt = now();
    warnings.forEach(warn);
  };
  const serveWith = (files: TlsFiles): void => {
    server.renewTls(files);
    served = files;
    serves(certificateEnd(files));
    say(tlsWarnings(files, now()));
  };
  const read = async (): Promise<void> => {
    let found: string;
    try {
      const files = await readTls(paths, context);
      found = fingerprint(files);
      if (found !== known) serveWith(files);
    } catch (error) {
      found = messageOf(error);
      if (found !== known) warn(`The previous certificate stays in use. ${found}`);
    }
    known = found;
    if (now().getTime() - warnedAt.getTime() >= UNITS.d) say(dateWarnings(served, now()));
  };
  serves(certificateEnd(inUse));
  const timer = setInterval(() => void read(), READ_INTERVAL);
  return () => clearInterval(timer);
}

const fingerprint = ({ cert, key }: TlsFiles): string =>
  `${Buffer.from(cert).toString("base64")} ${Buffer.from(key).toString("base64")}`;
