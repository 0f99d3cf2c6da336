/**
 * Gives sandboxes and applications in the process of the tests one of a few RSA keys in turn, made when they are first asked for:
 * a new one takes longer than most tests. Other keys, and those of programs that a test starts, are made as ever.
 */
import crypto, { type KeyPairKeyObjectResult, type RSAKeyPairOptions } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

/** More than any test has of them at the same time, so that those of a test differ. */
const DIFFERENT = 8;

const made: KeyPairKeyObjectResult[] = [];
let asked = 0;

const make = crypto.generateKeyPairSync;

type Encoded = RSAKeyPairOptions<"pem", "pem">;

/** As `generateKeyPairSync("rsa", { modulusLength: 2048 })`, whose other options are the encodings. */
function inTurn({ publicKeyEncoding, privateKeyEncoding }: Partial<Encoded>) {
  const at = asked++ % DIFFERENT;
  const { publicKey, privateKey } = (made[at] ??= make("rsa", { modulusLength: 2048 }));
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
