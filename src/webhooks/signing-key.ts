/** The private key that samples are signed with: a file of the user's, or the sandbox's key. */
import { join } from "node:path";
import { PaylinkError } from "../domain/errors.ts";
import { readSigningKey, type SigningKey } from "../signatures/keys.ts";
import { openIdentity } from "../store/sandbox-identity.ts";

interface KeyHolder {
  readonly readFile: (path: string) => Promise<Uint8Array>;
  /** The folder for what paylink keeps besides its settings. */
  readonly dataFolder: string;
  readonly newId: () => string;
}

/** Throws `file_unreadable`, `key_invalid`. */
export async function loadSigningKey(
  path: string | undefined,
  { readFile, dataFolder, newId }: KeyHolder,
): Promise<SigningKey> {
  const read = path === undefined ? sandboxKey(dataFolder, newId) : readSigningKey(await readFile(path));
  const name = path ?? "the sandbox's identity";
  if (!read.ok)
    throw new PaylinkError("key_invalid", `No private key can be read from ${name}: ${read.reason}`, {
      hint: "A signing key is a private RSA key as PEM, DER or JWK.",
    });
  if (read.key.key.asymmetricKeyType !== "rsa")
    throw new PaylinkError(
      "key_invalid",
      `${name} has no RSA key; webhooks are signed with rsa-v1_5-sha256.`,
    );
  return read.key;
}

/** The same key that the sandbox signs with, whether it runs or not. */
function sandboxKey(dataFolder: string, newId: () => string): ReturnType<typeof readSigningKey> {
  const { privateKey, keyid } = openIdentity(join(dataFolder, "sandbox"), newId);
  return readSigningKey(privateKey, keyid);
}
