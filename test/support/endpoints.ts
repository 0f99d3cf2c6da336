/** Small webhook endpoints as merchants write them: a proper one, and one for each classic fault. */
import { createHash, createHmac, createPublicKey, verify as cryptoVerify } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import express from "express";
import { isInnerList, parseDictionary, serializeInnerList, type InnerList } from "structured-headers";
import { listenOnFreePort } from "./ports.ts";

export const FAULTS = [
  "parses before verifying",
  "ignores the digest",
  "ignores coverage",
  "no age check",
  "trusts the message's algorithm",
  "takes the first of two headers",
  "insists on derived components",
  "insists on created",
  "insists on a keyid",
  "knows header fields only",
] as const;
export type Fault = (typeof FAULTS)[number];

interface Delivery {
  readonly method: string;
  readonly url: string;
  readonly lines: (name: string) => string[];
  readonly body: Buffer;
}

const TOLERANCE = 300;

/** Listens on a free port until the test is over, and gives its address. */
export async function startEndpoint(
  publicKeyPem: string,
  fault?: Fault,
  /** Other statuses in place of these. */
  statuses: Readonly<Record<number, number>> = {},
): Promise<string> {
  const address = { url: "" };
  const answer = (incoming: IncomingMessage, body: Buffer): number => {
    const delivery = deliveryOf(incoming, body, address.url, fault);
    const status = statusFor(delivery, publicKeyPem, fault);
    return statuses[status] ?? status;
  };
  const server = fault === "parses before verifying" ? parsing(answer) : raw(answer);
  address.url = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  return `${address.url}/webhooks`;
}

function statusFor(delivery: Delivery, pem: string, fault: Fault | undefined): number {
  try {
    return judge(delivery, pem, fault);
  } catch {
    return 401;
  }
}

type AnswerTo = (incoming: IncomingMessage, body: Buffer) => number;

const raw = (answer: AnswerTo): Server =>
  createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => outgoing.writeHead(answer(incoming, Buffer.concat(chunks))).end());
  });

/** The mistake of many a tutorial: the body is JSON by the time that it is hashed. */
function parsing(answer: AnswerTo): Server {
  const app = express();
  app.use(express.json());
  app.use((request: express.Request, response: express.Response) => {
    response.status(answer(request, Buffer.from(JSON.stringify(request.body)))).end();
  });
  return createServer(app);
}

function deliveryOf(incoming: IncomingMessage, body: Buffer, origin: string, fault?: Fault): Delivery {
  const all = (name: string): string[] => incoming.headersDistinct[name] ?? [];
  return {
    method: incoming.method ?? "",
    url: `${origin}${incoming.url ?? ""}`,
    lines: fault === "takes the first of two headers" ? (name) => all(name).slice(0, 1) : all,
    body,
  };
}

function judge(delivery: Delivery, pem: string, fault: Fault | undefined): number {
  if (delivery.method !== "POST") return 405;
  for (const name of ["content-type", "signature-input", "signature", "content-digest"])
    if (delivery.lines(name).length !== 1) return 401;
  const inputs = parseDictionary(delivery.lines("signature-input").join(", "));
  const signatures = parseDictionary(delivery.lines("signature").join(", "));
  const input = inputs.get("sig1");
  const signature = signatures.get("sig1")?.[0];
  if (input === undefined || !isInnerList(input) || !(signature instanceof ArrayBuffer)) return 401;
  const covered = input[0].map(([name]) => String(name));
  if (fault !== "ignores coverage" && !covered.includes("content-digest")) return 401;
  if (fault === "insists on derived components" && !covered.includes("@target-uri")) return 401;
  if (fault === "knows header fields only" && covered.some((name) => name.startsWith("@"))) return 401;
  if (fault === "insists on created" && !input[1].has("created")) return 401;
  if (fault === "insists on a keyid" && !input[1].has("keyid")) return 401;
  if (fault !== "no age check" && !isFresh(input)) return 401;
  if (fault !== "ignores the digest" && !digestFits(delivery)) return 401;
  const base = [
    ...covered.map((name) => `"${name}": ${valueOf(name, delivery)}`),
    `"@signature-params": ${serializeInnerList(input)}`,
  ].join("\n");
  return verifies(base, Buffer.from(signature), input[1].get("alg"), pem, fault) ? 200 : 401;
}

function isFresh([, parameters]: InnerList): boolean {
  const now = Date.now() / 1000;
  const created = parameters.get("created");
  const expires = parameters.get("expires");
  if (created !== undefined && (typeof created !== "number" || Math.abs(now - created) > TOLERANCE))
    return false;
  return expires === undefined || (typeof expires === "number" && now <= expires);
}

function digestFits({ lines, body }: Delivery): boolean {
  const digests = parseDictionary(lines("content-digest").join(", "));
  const known = [
    ["sha-256", "sha256"],
    ["sha-512", "sha512"],
  ] as const;
  const given = known.filter(([name]) => digests.has(name));
  return (
    given.length > 0 &&
    given.every(([name, algorithm]) => {
      const sent = digests.get(name)?.[0];
      return (
        sent instanceof ArrayBuffer && Buffer.from(sent).equals(createHash(algorithm).update(body).digest())
      );
    })
  );
}

function valueOf(name: string, { method, url, lines }: Delivery): string {
  if (name === "@method") return method;
  if (name === "@target-uri") return url;
  const values = lines(name);
  if (name.startsWith("@") || values.length === 0) throw new Error(`no ${name}`);
  return values.join(", ");
}

function verifies(base: string, signature: Buffer, alg: unknown, pem: string, fault?: Fault): boolean {
  if (fault === "trusts the message's algorithm" && alg === "hmac-sha256")
    return createHmac("sha256", pem).update(base).digest().equals(signature);
  if (alg !== undefined && alg !== "rsa-v1_5-sha256") return false;
  return cryptoVerify("sha256", Buffer.from(base), createPublicKey(pem), signature);
}
