/**
 * Gives sandboxes and applications in the process of the tests one of a few fixed RSA keys in turn: a new one takes longer than
 * most tests. Other keys, and those of programs that a test starts, are made as ever.
 */
import crypto, { type KeyObject, type RSAKeyPairOptions } from "node:crypto";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

/** More than any test has of them at the same time, so that those of a test differ. */
const readKeys = (): KeyObject[] =>
  readFileSync(join(import.meta.dirname, "made-keys.pem"), "utf8")
    .split(/(?<=-----END PRIVATE KEY-----\n)/)
    .map((pem) => crypto.createPrivateKey(pem));

let made: readonly KeyObject[] | undefined;

let asked = 0;

const make = crypto.generateKeyPairSync;

type Encoded = RSAKeyPairOptions<"pem", "pem">;

/** As `generateKeyPairSync("rsa", { modulusLength: 2048 })`, whose other options are the encodings. */
function inTurn({ publicKeyEncoding, privateKeyEncoding }: Partial<Encoded>) {
  made ??= readKeys();
  const privateKey = made[asked++ % made.length];
  if (privateKey === undefined) throw new Error("made-keys.pem has no keys");
  const publicKey = crypto.createPublicKey(privateKey);
  return {
    publicKey: publicKeyEncoding === undefined ? publicKey : publicKey.export(publicKeyEncoding),
    privateKey: privateKeyEncoding === undefined ? privateKey : privateKey.export(privateKeyEncoding),
  };
}

if (!("paylinkTests" in make)) {
  const given = (type: string, options: Partial<Encoded> = {}): unknown =>
    type === "rsa" && options.modulusLength === 2048 && options.publicExponent === undefined
      ? inTurn(options)
      : Reflect.apply(make, crypto, [type, options]);
  Object.assign(crypto, { generateKeyPairSync: Object.assign(given, { paylinkTests: true }) });
  syncBuiltinESMExports();
}
