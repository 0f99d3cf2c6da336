/** The webhook key of `listen` and `verify`: forms in a variable, keys of another kind, and private keys, which are never printed. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatRequest } from "../../src/http/capture.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { KEYS } from "../support/keys.ts";
import { record, webhook } from "../support/webhooks.ts";

const capture = formatRequest(webhook("http://127.0.0.1:4000/", record()));
const pem = (key: KeyObject): string => key.export({ type: "spki", format: "pem" }).toString();

function fileOf(text: string): string {
  const file = join(temporaryHome(), "key.pem");
  writeFileSync(file, text);
  return file;
}

const OTHER_KINDS: Readonly<Record<string, KeyObject>> = {
  Ed25519: generateKeyPairSync("ed25519").publicKey,
  X25519: generateKeyPairSync("x25519").publicKey,
  Ed448: generateKeyPairSync("ed448").publicKey,
  "an elliptic curve": generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey,
  "RSA-PSS alone": generateKeyPairSync("rsa-pss", { modulusLength: 2048 }).publicKey,
};

describe.each(Object.entries(OTHER_KINDS))("a key of %s", (_, key) => {
  const otherFile = (): string => fileOf(pem(key));

  it("is a verdict of verify", async () => {
    const { exit, stdout } = await runCommand(["verify", "--key", otherFile(), "--json"], { stdin: capture });
    expect({ exit, ...JSON.parse(stdout) }).toMatchObject({ exit: 7, code: "key_type_mismatch" });
  });

  it("stops listen from starting", async () => {
    const { exit, stderr } = await runCommand([
      "listen",
      "--port",
      "0",
      "--key",
      otherFile(),
      "--json",
      "--no-store",
    ]);
    expect({ exit, ...JSON.parse(stderr) }).toMatchObject({
      exit: 2,
      error: { code: "key_invalid", details: { reason: "key_type_mismatch" } },
    });
  });

  it("is ignored beside the service's own", async () => {
    const keys = ["--key", otherFile(), "--key", fileOf(KEYS.publicPem)];
    expect(await runCommand(["verify", ...keys], { stdin: capture })).toMatchObject({ exit: 0 });
  });
});

it.each([
  ["base64 of a PEM", Buffer.from(KEYS.publicPem).toString("base64")],
  ["a PEM in one line", KEYS.publicPem.replaceAll("\n", " ")],
  ["a list of JWKs", JSON.stringify([KEYS.publicKey.export({ format: "jwk" })])],
  [
    "a JWK whose alg has the name of RFC 9421",
    JSON.stringify({ ...KEYS.publicKey.export({ format: "jwk" }), alg: "rsa-v1_5-sha256" }),
  ],
])("a variable may hold %s", async (_, text) => {
  const env = { PAYLINK_WEBHOOK_KEY: text };
  expect(await runCommand(["verify"], { stdin: capture, env })).toMatchObject({ exit: 0 });
});

const privateForms: Readonly<Record<string, string>> = {
  PEM: KEYS.privatePem,
  "PEM in one line": KEYS.privatePem.replaceAll("\n", " "),
  "base64 of PEM": Buffer.from(KEYS.privatePem).toString("base64"),
  "base64 of DER": KEYS.privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"),
  JWK: JSON.stringify(KEYS.privateKey.export({ format: "jwk" })),
  "a part of a JWK": JSON.stringify(KEYS.privateKey.export({ format: "jwk" })).slice(0, -9),
  "a part of a PEM": KEYS.privatePem.slice(0, -40),
  "base64 of DER, with a character too many": `${KEYS.privateKey.export({ type: "pkcs8", format: "der" }).toString("base64")}!`,
};

describe.each(Object.entries(privateForms))("a private key as %s", (_, text) => {
  const secrets = [...text.matchAll(/[\w+/-]{40}/g)].map(([part]) => part.slice(0, 24));

  it.each([
    ["in a file", () => ["--key", fileOf(text)], {}],
    ["in the flag", () => ["--key", text], {}],
    ["in the variable", () => [], { PAYLINK_WEBHOOK_KEY: text }],
  ])("%s is refused by verify and listen, and not printed", async (__, flags, env) => {
    for (const command of [["verify"], ["listen", "--port", "0", "--no-store"]]) {
      const { exit, stdout, stderr } = await runCommand([...command, ...flags()], { stdin: capture, env });
      expect(exit).toBe(2);
      for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
      expect(stderr).not.toMatch(/a bug in|error:|DECODER/);
    }
  });
});
