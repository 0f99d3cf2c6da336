/** Webhooks as the documented service posts them: built, signed and sent with node:crypto and node:http alone. */
import { createHash, sign, type KeyObject } from "node:crypto";
import { request } from "node:http";

export type Outcome = "approved" | "declined" | "cancelled";

interface Payment {
  readonly reference: string;
  readonly terminalId: string;
  readonly amount: number;
  readonly currency: string;
  readonly outcome: Outcome;
  readonly number: number;
}

/** A record with the fields that the documentation lists for its outcome. */
export function transactionRecord({
  reference,
  terminalId,
  amount,
  currency,
  outcome,
  number,
}: Payment): object {
  const at = "2026-01-31T12:00:00.000Z";
  const digits = String(number).padStart(12, "0");
  const attempted = {
    paymentId: `pay-${number}`,
    responseCode: outcome === "approved" ? "00" : "05",
    merchantTokenId: `token-${number}`,
    emvCryptogramType: "ARQC",
  };
  return {
    uti: `6f9619ff-8b86-d011-b42d-${digits}`,
    transType: "SALE",
    transApproved: outcome === "approved",
    transPartiallyApproved: false,
    transCancelled: outcome === "cancelled",
    amountTrans: amount,
    amountGratuity: 0,
    amountCashback: 0,
    cvmSignatureRequired: false,
    cvmPinVerified: false,
    transCurrencyCode: currency,
    terminalId,
    merchantId: "M-1",
    softwareVersion: "1.0",
    receiptNumber: "1",
    retrievalReferenceNumber: digits,
    stan: "000001",
    cardPan: "476173******0119",
    cardStartDate: "2401",
    cardScheme: "VISA",
    cardPanSequenceNumber: "01",
    cardType: "EMV",
    emvAid: "A0000000031010",
    emvTsi: "E800",
    emvTvr: "0000000000",
    emvCryptogram: "",
    reference,
    merchantName: "Shop",
    transDateTime: at,
    createdDateTime: at,
    merchantStoreId: 1,
    status: "Complete",
    ...(outcome === "cancelled" ? {} : attempted),
    ...(outcome === "approved" ? { authorisationCode: "A12345" } : {}),
  };
}

export interface PostedWebhook {
  readonly status: number;
  /** The request as it was sent: head and body. */
  readonly message: string;
}

interface Posting {
  readonly url: string;
  readonly body: object;
  readonly key: KeyObject;
  /** As the documentation says; a test may ask for another JSON type. */
  readonly mediaType?: string;
  /** Unix seconds; the service is not known to send it. */
  readonly created?: number;
}

/** The signature covers header fields only (RFC 9421 2.1, 2.3, 3.3.2). */
export function postWebhook({ url, body, key, mediaType, created }: Posting): Promise<PostedWebhook> {
  const content = Buffer.from(JSON.stringify(body), "utf8");
  const covered = {
    "content-digest": `sha-256=:${createHash("sha256").update(content).digest("base64")}:`,
    "content-length": String(content.length),
    "content-type": mediaType ?? "application/json; charset=utf-8",
  };
  const names = Object.keys(covered).map((name) => `"${name}"`);
  const parameters = `(${names.join(" ")})${created === undefined ? "" : `;created=${created}`}`;
  const lines = Object.entries(covered).map(([name, value]) => `"${name}": ${value}`);
  const base = [...lines, `"@signature-params": ${parameters}`].join("\n");
  const signature = sign("sha256", Buffer.from(base, "latin1"), key).toString("base64");
  const { host, hostname, port, pathname, search } = new URL(url);
  const headers = {
    Host: host,
    Accept: "application/json",
    "Content-Type": covered["content-type"],
    "Content-Digest": covered["content-digest"],
    "Content-Length": covered["content-length"],
    "Signature-Input": `sig1=${parameters}`,
    Signature: `sig1=:${signature}:`,
  };
  const path = pathname + search;
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const message = `POST ${path} HTTP/1.1\r\n${fields.join("")}\r\n${content.toString("utf8")}`;
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method: "POST", headers, agent: false }, (reply) => {
      reply.resume().on("end", () => resolve({ status: reply.statusCode ?? 0, message }));
    });
    sent.on("error", reject).end(content);
  });
}
