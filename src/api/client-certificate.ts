/** The client's certificate and key for mutual TLS, from the files that the settings name. */
import { hint, paylink, PaylinkError } from "../domain/errors.ts";
import { keyPairReason } from "../domain/system-reason.ts";
import type { TlsFiles } from "../http/exchange.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";

type ReadFile = (path: string) => Promise<Uint8Array>;

/** Throws `usage` if one setting is missing or the files do not fit together, `file_unreadable`. */
export async function readClientCertificate(
  settings: ResolvedSettings,
  readFile: ReadFile,
): Promise<TlsFiles | undefined> {
  const cert = settings.get("clientCert");
  const key = settings.get("clientKey");
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    const [given, missing] =
      cert === undefined ? (["clientKey", "clientCert"] as const) : (["clientCert", "clientKey"] as const);
    throw new PaylinkError("usage", `${given} is set, and ${missing} is not. Nothing was sent.`, {
      hints: [hint`Mutual TLS needs both files: ${paylink("config", "set", missing, "<file>")}`],
    });
  }
  const files = {
    cert: await read("clientCert", cert, readFile),
    key: await read("clientKey", key, readFile),
  };
  // Most accounts have no client certificate and do not need this module.
  const { createSecureContext } = await import("node:tls");
  try {
    createSecureContext({ cert: Buffer.from(files.cert), key: Buffer.from(files.key) });
  } catch (error) {
    throw new PaylinkError("usage", "The client certificate cannot be used. Nothing was sent.", {
      problems: [
        { at: "clientCert", message: cert },
        { at: "clientKey", message: `${key}: ${keyPairReason(error)}` },
      ],
      hints: [
        hint`clientCert must be a PEM file with a certificate, and clientKey a PEM file with its key, without a passphrase.`,
      ],
      cause: error,
    });
  }
  return files;
}

async function read(name: string, path: string, readFile: ReadFile): Promise<Uint8Array> {
  return readFile(path).catch((error: unknown) => {
    if (!(error instanceof PaylinkError)) throw error;
    throw new PaylinkError(error.code, `${name}: ${error.message} Nothing was sent.`, { cause: error });
  });
}
