/** The certificate and key of `listen`, read at the start and when the files change. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { createSecureContext, rootCertificates } from "node:tls";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { hasCode, keyPairReason, messageOf } from "../../values/system-reason.ts";
import { UNITS } from "../../values/time.ts";
import type { HttpServer, TlsFiles } from "../../http/exchange.ts";
import { formatLocal } from "../../render/layout.ts";

export interface TlsPaths {
  readonly cert: string;
  readonly key: string;
  /** The name that services call, where it is known. */
  readonly host?: string | undefined;
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
    const isOther = hasCode(error, MISMATCH) && isOfOther(files);
    const reason = isOther ? "the key belongs to a later certificate of the file" : keyPairReason(error);
    throw new PaylinkError("key_invalid", `${cert} and ${key} cannot be used for https: ${reason}.`, {
      cause: error,
      hints: [
        isOther
          ? hint`Put the server's own certificate first in the file, and then its issuers.`
          : hint`Give the certificate chain and its own private key, both as PEM.`,
      ],
    });
  }
}

const MISMATCH = "ERR_OSSL_X509_KEY_VALUES_MISMATCH";

/** Whether the key is that of a certificate which is not the first one of its file. */
function isOfOther(files: TlsFiles): boolean {
  const key = createPrivateKey(Buffer.from(files.key));
  return certificatesOf(files).some((one) => one.checkPrivateKey(key));
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
  const [own, ...others] = certificatesOf(files);
  const end = certificateEnd(files);
  const begin = new Date(Math.max(...certificatesOf(files).map(({ validFrom }) => Date.parse(validFrom))));
  /** The server's own certificate may be as good as its file, and its issuers are renewed by other hands. */
  const named = (date: Date, of: "validFrom" | "validTo"): string => {
    const isOf = (one: X509Certificate): boolean => Date.parse(one[of]) === date.getTime();
    const other = own !== undefined && isOf(own) ? undefined : others.find(isOf);
    return other === undefined
      ? "The certificate"
      : `The certificate of ${nameOf(other.subject)} in its file`;
  };
  if (end <= now)
    return [
      `${named(end, "validTo")} expired on ${formatLocal(end)}, so services do not deliver to it. ${RENEW}`,
    ];
  if (begin > now)
    return [
      `${named(begin, "validFrom")} is not valid before ${formatLocal(begin)}, so services do not deliver to it yet. Is the clock of this machine right?`,
    ];
  return end.getTime() - now.getTime() > ENDS_SOON
    ? []
    : [
        `${named(end, "validTo")} expires on ${formatLocal(end)}; from then on, services do not deliver to it. ${RENEW}`,
      ];
}

const RENEW = "Replace the files of --tls-cert and --tls-key; they are read again by themselves.";

/** The common name of a subject or an issuer, which has a line for each of its parts. */
const nameOf = (distinguished: string): string =>
  /^CN=(.+)$/m.exec(distinguished)?.[1] ?? distinguished.replaceAll("\n", ", ");

/** Why services refuse the certificate, whatever its dates are: they do not trust who issued it, or it has another name. */
function trustWarnings(files: TlsFiles, host: string | undefined): string[] {
  const [own, ...issuers] = certificatesOf(files);
  if (own === undefined) return [];
  if (isSelfSigned(own)) return [SELF_SIGNED];
  let last = own;
  for (const issuer of issuers) if (last.checkIssued(issuer)) last = issuer;
  const isComplete =
    isSelfSigned(last) || rootCertificates.some((root) => last.checkIssued(new X509Certificate(root)));
  const issued = last === own ? "the certificate" : nameOf(last.subject);
  const incomplete = `${nameOf(last.issuer)}, who issued ${issued}, is neither in its file nor commonly trusted, so services that do not know it do not deliver. Of a public authority, give the full chain (fullchain.pem).`;
  const names = own.subjectAltName?.replaceAll("DNS:", "") ?? nameOf(own.subject);
  const otherName = `The certificate is for ${names}, not for ${host} (--public-url), so services do not deliver, unless a proxy in between has one that is.`;
  return [
    ...(isComplete ? [] : [incomplete]),
    ...(host === undefined || isFor(own, host) ? [] : [otherName]),
  ];
}

const isFor = (one: X509Certificate, host: string): boolean =>
  (isIP(host) === 0 ? one.checkHost(host) : one.checkIP(host)) !== undefined;

const isSelfSigned = (one: X509Certificate): boolean => one.checkIssued(one) && one.verify(one.publicKey);

const SELF_SIGNED =
  "The certificate is self-signed, so services do not deliver to it. The sandbox does if it runs with --insecure.";

/** Why services refuse the certificate, or soon will. `host` is the name that they call, where it is known. */
export const tlsWarnings = (files: TlsFiles, now: Date, host?: string): readonly string[] => [
  ...trustWarnings(files, host),
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
    say(tlsWarnings(files, now(), paths.host));
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
