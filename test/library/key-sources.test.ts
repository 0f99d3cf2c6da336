/** Every key of a source counts, and what in it is none is named: the vectors of key sources, for the reader, `verify` and the library. */
import { createPrivateKey } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createVerifier } from "paylink-webhooks";
import { describe, expect, it } from "vitest";
import { formatRequest } from "../../src/http/capture.ts";
import { readKeys } from "../../src/signatures/keys.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { vectorFile } from "../support/vectors.ts";
import { record, webhook } from "../support/webhooks.ts";

interface SourceVector {
  readonly id: string;
  readonly text?: string;
  readonly base64?: string;
  readonly json?: object;
  readonly thumbprints: readonly string[];
  readonly named?: number;
  /** Those of the thumbprints whose keys are read, and named because they cannot verify. */
  readonly unused?: readonly string[];
}

const { sources, private_keys: privateKeys } = vectorFile<{
  sources: readonly SourceVector[];
  private_keys: readonly { thumbprint: string; pem: string }[];
}>("key-sources");

/** One for each private key, without a keyid. */
const WEBHOOKS = privateKeys.map(({ thumbprint, pem }) => {
  const key = { keyid: null, key: createPrivateKey(pem) };
  const request = webhook("http://127.0.0.1:4000/", record(), { key });
  return { thumbprint, request: { ...request, url: request.target }, capture: formatRequest(request) };
});

/** As an application passes it, and as a file holds it. */
const valueOf = ({ text, base64 = "", json }: SourceVector) => text ?? json ?? Buffer.from(base64, "base64");
function bytesOf(source: SourceVector): Uint8Array {
  const value = valueOf(source);
  return value instanceof Uint8Array
    ? value
    : Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
}

it("has at least 60 sources, each with a name of its own", () => {
  expect(new Set(sources.map(({ id }) => id)).size).toBe(sources.length);
  expect(sources.length).toBeGreaterThanOrEqual(60);
});

describe.each(sources.map((source) => [source.id, source] as const))("%s", (_, source) => {
  const { thumbprints, named = 0, unused = [] } = source;
  const verifies = ({ thumbprint }: { readonly thumbprint: string }): boolean =>
    thumbprints.includes(thumbprint) && !unused.includes(thumbprint);

  it("holds its keys, and names what is none", () => {
    const { keys, remarks } = readKeys(bytesOf(source));
    const found = [...new Set(keys.map(({ thumbprint }) => thumbprint))];
    expect({ found, named: remarks.length }).toEqual({ found: thumbprints, named });
  });

  it("is read by the library and by verify, and each key of it verifies", async () => {
    const key = valueOf(source);
    const file = join(temporaryHome(), "keys");
    writeFileSync(file, bytesOf(source));
    if (thumbprints.length === 0) {
      expect(() => createVerifier({ key })).toThrow("The option key");
      expect(
        await runCommand(["verify", "--key", file], { stdin: WEBHOOKS[0]?.capture ?? "" }),
      ).toMatchObject({
        exit: 2,
      });
      return;
    }
    const verify = createVerifier({ key });
    const isTaken = WEBHOOKS.map(({ request }) => verify(request).then(Boolean, () => false));
    const expected = WEBHOOKS.map(verifies);
    expect(await Promise.all(isTaken)).toEqual(expected);
    const last = WEBHOOKS.findLast(verifies);
    expect(await runCommand(["verify", "--key", file], { stdin: last?.capture ?? "" })).toMatchObject({
      exit: 0,
    });
  });
});
