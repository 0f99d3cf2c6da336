/** The private keys that webhooks are signed with: a file, the sandbox's own key for samples, a new file for what is forwarded. */
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { hasCode } from "../values/system-reason.ts";
import { publicPem, readKeys, readSigningKey, type SigningKey, verificationKey } from "../signatures/keys.ts";

/** The flag that names the file. */
const PLACE = "--sign-with";

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
  if (path !== undefined) return rsaKey(readSigningKey(await readFile(path, PLACE)), path);
  const { privateKey, keyid } = (await sandbox()).identity;
  return rsaKey(readSigningKey(privateKey, keyid), "the sandbox's identity");
}

function rsaKey(read: ReturnType<typeof readSigningKey>, name: string): SigningKey {
  if (!read.ok)
    throw new PaylinkError("key_invalid", `${name} cannot be used to sign: ${read.message}.`, {
      hints: [hint`A signing key is a private RSA key as PEM, DER or JWK.`],
    });
  if (read.value.key.asymmetricKeyType !== "rsa")
    throw new PaylinkError(
      "key_invalid",
      `${name} is not an RSA key, and webhooks are signed with rsa-v1_5-sha256.`,
      { hints: [] },
    );
  return read.value;
}

interface KeyFiles extends Pick<KeySources, "readFile"> {
  /** Resolves with false if the file exists. */
  readonly createFile: (path: string, text: string, place: string, mode: number) => Promise<boolean>;
}

/** A key that signs what is forwarded. */
export interface ForwardingKey {
  readonly key: SigningKey;
  readonly path: string;
  /** Whether the file was made now. */
  readonly isNew: boolean;
  /** The file that the application verifies with; undefined if it is not there and cannot be written. */
  readonly publicPath: string | undefined;
}

/**
 * Reads the key, or makes a file with a new one, and the file of its public key beside it. Throws `file_unreadable`,
 * `file_unwritable` or `key_invalid`.
 */
export async function openForwardingKey(path: string, files: KeyFiles): Promise<ForwardingKey> {
  const publicPath = `${path}.pub`;
  const found = await readIfThere(path, files);
  const published = await readIfThere(publicPath, files);
  if (found === undefined && published !== undefined)
    throw new PaylinkError("key_invalid", `${publicPath} exists, but its private key ${path} does not.`, {
      hints: [
        hint`Restore ${path}. For a new pair of keys, move ${publicPath} away. The application then needs the new public key.`,
      ],
    });
  const isNew = found === undefined && (await createKey(path, files));
  const key = rsaKey(readSigningKey(found ?? (await files.readFile(path, PLACE))), path);
  const { weakness } = verificationKey(key.key);
  if (weakness !== null)
    throw new PaylinkError("key_invalid", `${path} must not be used to sign: ${weakness}.`, {
      hints: [hint`If ${PLACE} names a file that does not exist, paylink creates a key of 2048 bits.`],
    });
  if (published !== undefined) requirePair(key, published, path, publicPath);
  const isPublished = published !== undefined || (await publish(key, publicPath, files));
  return { key, path, isNew, publicPath: isPublished ? publicPath : undefined };
}

async function readIfThere(path: string, { readFile }: KeyFiles): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path, PLACE);
  } catch (error) {
    if (error instanceof PaylinkError && hasCode(error.cause, "ENOENT")) return undefined;
    throw error;
  }
}

/** Another process may make the file at the same time: then its key is used. */
async function createKey(path: string, { createFile }: KeyFiles): Promise<boolean> {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  return createFile(path, privateKey, PLACE, 0o600);
}

function requirePair(key: SigningKey, published: Uint8Array, path: string, publicPath: string): void {
  if (readKeys(published).keys.some((one) => one.key.equals(createPublicKey(key.key)))) return;
  throw new PaylinkError(
    "key_invalid",
    `${publicPath} is not the public key of ${path}, so an application that has it would refuse every webhook.`,
    {
      hints: [hint`Move ${publicPath} away: paylink makes it again. The application then needs the new one.`],
    },
  );
}

/** A private key is often in a folder that only an administrator can write. */
async function publish(key: SigningKey, publicPath: string, { createFile }: KeyFiles): Promise<boolean> {
  try {
    await createFile(publicPath, publicPem(key.key), PLACE, 0o644);
    return true;
  } catch (error) {
    if (error instanceof PaylinkError && error.code === "file_unwritable") return false;
    throw error;
  }
}
