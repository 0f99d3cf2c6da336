/** The private key that samples are signed with: a file, or the sandbox's own key. */
import { hint, PaylinkError } from "../domain/errors.ts";
import { readSigningKey, type SigningKey } from "../signatures/keys.ts";

interface KeySources {
  readonly readFile: (path: string, place: string) => Promise<Uint8Array>;
  /** Works while the sandbox is not running. */
  readonly sandbox: () => Promise<{
    readonly identity: { readonly privateKey: string; readonly keyid: string };
  }>;
}

/** Throws `file_unreadable`, `key_invalid`. */
export async function loadSigningKey(
  path: string | undefined,
  { readFile, sandbox }: KeySources,
): Promise<SigningKey> {
  const read = path === undefined ? await sandboxKey(sandbox) : readSigningKey(await readFile(path, "--key"));
  const name = path ?? "the sandbox's identity";
  if (!read.ok)
    throw new PaylinkError("key_invalid", `No private key can be read from ${name}: ${read.reason}`, {
      hints: [hint`A signing key is a private RSA key as PEM, DER or JWK.`],
    });
  if (read.key.key.asymmetricKeyType !== "rsa")
    throw new PaylinkError(
      "key_invalid",
      `${name} is not an RSA key, and webhooks are signed with rsa-v1_5-sha256.`,
    );
  return read.key;
}

async function sandboxKey(sandbox: KeySources["sandbox"]): Promise<ReturnType<typeof readSigningKey>> {
  const { privateKey, keyid } = (await sandbox()).identity;
  return readSigningKey(privateKey, keyid);
}
