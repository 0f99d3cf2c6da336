/** Finds the service's public keys where the user says they are: a file, a URL, or the text itself. */
import { PaylinkError } from "../domain/errors.ts";
import { isExposed, parseWebAddress } from "../domain/web-address.ts";
import type { Send } from "../http/exchange.ts";
import { readKeys, type VerificationKey } from "../signatures/keys.ts";

interface KeySources {
  readonly readFile: (path: string) => Promise<Uint8Array>;
  readonly send: Send;
  /** Hears what is odd about a key that is taken all the same. */
  readonly warn: (warning: string) => void;
}

/** The keys of every source together. Throws `key_invalid`, `file_unreadable`. */
export async function loadKeys(sources: readonly string[], io: KeySources): Promise<VerificationKey[]> {
  const keys: VerificationKey[] = [];
  for (const source of sources) {
    const read = readKeys(await bytesOf(source, io));
    const name = isKeyText(source) ? "the key given" : source;
    if (!read.ok) throw new PaylinkError("key_invalid", `No key can be read from ${name}: ${read.reason}`);
    for (const warning of read.warnings) io.warn(`${name}: ${warning}`);
    keys.push(...read.keys);
  }
  return keys;
}

const isKeyText = (source: string): boolean => /^\s*(-----BEGIN |\{)/.test(source);

async function bytesOf(source: string, { readFile, send }: KeySources): Promise<Uint8Array> {
  if (isKeyText(source)) return new TextEncoder().encode(source);
  const url = parseWebAddress(source);
  return url === undefined ? readFile(source) : fetchKey(url, send);
}

/** Whoever can change a key on its way can forge every webhook: plain http is for this machine alone. */
async function fetchKey(url: URL, send: Send): Promise<Uint8Array> {
  if (isExposed(url))
    throw new PaylinkError("key_invalid", `${url.href} is not https: a key must not be fetched in the open.`);
  const request = {
    method: "GET",
    scheme: url.protocol === "https:" ? "https" : "http",
    authority: url.host,
    target: `${url.pathname}${url.search}`,
    headers: [["Accept", "application/jwk-set+json, application/json, application/x-pem-file"]],
    body: new Uint8Array(),
  } as const;
  try {
    const reply = await send(request);
    if (reply.status === 200) return reply.body;
    throw new Error(`it answered ${reply.status}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PaylinkError("not_reached", `The key at ${url.href} cannot be fetched: ${reason}`, {
      cause: error,
      hint: "Nothing was received. Start the service, or give a key file with --key.",
    });
  }
}
