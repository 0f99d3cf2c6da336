/** Webhooks signed by an independent implementation of RFC 9421, so that signer and verifier share no code. */
import { createHash, generateKeyPairSync, randomUUID, type KeyObject } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSigner, httpbis } from "http-message-signatures";

export interface Keys {
  readonly privateKey: KeyObject;
  readonly publicPem: string;
}

export function newKeys(): Keys {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { privateKey, publicPem: publicKey.export({ type: "spki", format: "pem" }).toString() };
}

/** Writes the public key where a test's home is, and gives its path. */
export function publicKeyFile(home: string, { publicPem }: Keys): string {
  const path = join(home, "service.pem");
  writeFileSync(path, publicPem);
  return path;
}

/** A record that keeps every rule of the specification, for an approved payment of EUR 10. */
export function approvedRecord(): Record<string, unknown> {
  return {
    ...{ uti: randomUUID(), transType: "SALE", transApproved: true, transPartiallyApproved: false },
    ...{ transCancelled: false, amountTrans: 10, amountGratuity: 0, amountCashback: 0 },
    ...{
      cvmSignatureRequired: false,
      cvmPinVerified: false,
      transCurrencyCode: "EUR",
      terminalId: "1234567890",
    },
    ...{ merchantId: "000000000012345", softwareVersion: "1.12.0", receiptNumber: "000417" },
    ...{
      retrievalReferenceNumber: "331700000417",
      paymentId: randomUUID(),
      responseCode: "00",
      stan: "000417",
    },
    ...{ authorisationCode: "123456", merchantTokenId: randomUUID(), cardPan: "************1111" },
    ...{ cardStartDate: "2401", cardScheme: "VISA", cardPanSequenceNumber: "01", cardType: "EMV" },
    ...{
      emvAid: "A0000000031010",
      emvTsi: "E800",
      emvTvr: "0000000000",
      emvCryptogram: "",
      emvCryptogramType: "ARQC",
    },
    ...{
      reference: "INV-1-A1B2C3D4E",
      merchantName: "Café Example",
      transDateTime: "2026-01-01T10:00:00.000Z",
    },
    ...{ createdDateTime: "2026-01-01T10:00:01.000Z", merchantStoreId: 1, status: "Complete" },
  };
}

export interface SignedWebhook {
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

interface SignOptions {
  readonly url: string;
  readonly keys: Keys;
  readonly record?: Record<string, unknown>;
  readonly created?: Date;
  readonly fields?: readonly string[];
}

const COVERED = ["@method", "@target-uri", "content-digest", "content-type"];

export async function signedWebhook({
  url,
  keys,
  record,
  created,
  fields,
}: SignOptions): Promise<SignedWebhook> {
  const body = Buffer.from(JSON.stringify(record ?? approvedRecord()));
  const request = {
    method: "POST",
    url,
    headers: {
      Host: new URL(url).host,
      Accept: "application/json",
      "Content-Type": "application/json; charset=utf-8",
      "Content-Digest": `sha-256=:${createHash("sha256").update(body).digest("base64")}:`,
      "Content-Length": String(body.length),
    },
  };
  const signed = await httpbis.signMessage(
    {
      key: createSigner(keys.privateKey, "rsa-v1_5-sha256", "service-key"),
      name: "sig1",
      fields: [...(fields ?? COVERED)],
      params: ["created", "keyid", "alg"],
      paramValues: { created: created ?? new Date() },
    },
    request,
  );
  return { headers: signed.headers, body };
}
