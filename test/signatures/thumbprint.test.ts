/** The thumbprint of a key: that of RFC 7638, and the same for every form of one key. */
import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readKeys } from "../../src/signatures/keys.ts";
import { isThumbprint, thumbprintOf } from "../../src/signatures/thumbprint.ts";
import { selfSigned } from "../support/certificate.ts";
import { temporaryHome } from "../support/home.ts";
import { OTHER_KEYS } from "../support/keys.ts";

/** RFC 7638 3.1. */
const EXAMPLE = {
  kty: "RSA",
  e: "AQAB",
  n: "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
};

it("is that of RFC 7638", () => {
  const thumbprint = thumbprintOf(createPublicKey({ key: EXAMPLE, format: "jwk" }));
  expect(thumbprint).toBe("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
  expect(isThumbprint(thumbprint)).toBe(true);
});

it("is one for every form of a key: PEM, certificate, base64 of the DER, JWK and JWKS", () => {
  const { publicKey, publicPem, privatePem } = OTHER_KEYS;
  const jwk = publicKey.export({ format: "jwk" });
  const forms = {
    SPKI: publicPem,
    "PKCS#1": publicKey.export({ format: "pem", type: "pkcs1" }).toString(),
    certificate: readFileSync(selfSigned(temporaryHome(), "service.example", privatePem).cert, "utf8"),
    base64: publicKey.export({ format: "der", type: "spki" }).toString("base64"),
    JWK: JSON.stringify({ ...jwk, kid: "any", use: "sig", alg: "RS256" }),
    JWKS: JSON.stringify({ keys: [{ ...jwk, kid: "another" }] }),
  };
  const found = Object.entries(forms).map(([form, text]) => [
    form,
    readKeys(text).keys.map(({ thumbprint }) => thumbprint),
  ]);
  expect(found).toEqual(Object.keys(forms).map((form) => [form, [thumbprintOf(publicKey)]]));
});
