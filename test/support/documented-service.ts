/** A strict imitation of the documented service, with code of its own: it refuses what the documentation does not allow. */
import { createPrivateKey, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { privatelyIssued } from "./certificate.ts";
import {
  cancelLink,
  createLink,
  findLink,
  listLinks,
  members,
  Refusal,
  showLink,
  TERMINAL_ID,
  updateLink,
  type Links,
  type Members,
} from "./documented-links.ts";
import { postWebhook, transactionRecord, type Outcome, type PostedWebhook } from "./documented-webhook.ts";

const CLIENT = {
  clientId: "shop+1",
  clientSecret: "s3cret/+=%&",
  terminalId: TERMINAL_ID,
};

export interface DocumentedService {
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly terminalId: string;
  /** A certificate with its chain. */
  readonly keyFile: string;
  /** Every request that was answered: method, path and status. */
  readonly log: readonly string[];
  /** Reports a payment of the link to the callback for its outcome. */
  readonly pay: (linkId: string, outcome: Outcome) => Promise<PostedWebhook>;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

export async function startDocumentedService(folder: string): Promise<DocumentedService> {
  const { cert, ca, key } = privatelyIssued(folder, ["webhooks.service.example"], 365);
  const keyFile = join(folder, "webhook-chain.pem");
  writeFileSync(keyFile, readFileSync(cert, "utf8") + readFileSync(ca, "utf8"));
  const tokens = new Set<string>();
  const links: Links = new Map();
  const log: string[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { method = "", url = "", headers } = request;
      const { status, body: reply } = answer(() => route({ method, url, headers, body }, tokens, links));
      log.push(`${method} ${url} ${status}`);
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(reply));
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let payments = 0;
  return {
    ...CLIENT,
    baseUrl,
    tokenUrl: `${baseUrl}/oauth2/token`,
    keyFile,
    log,
    pay: async (linkId, outcome) => {
      const { request } = findLink(links, linkId);
      const { callbackUrl, failureCallbackUrl } = members(request["paymentSettings"]);
      const url = String(outcome === "approved" ? callbackUrl : failureCallbackUrl);
      const record = transactionRecord({
        reference: String(request["invoiceId"] ?? linkId),
        terminalId: TERMINAL_ID,
        amount: Number(request["amount"]),
        currency: String(request["currency"]),
        outcome,
        number: ++payments,
      });
      return postWebhook({ url, body: record, key: createPrivateKey(readFileSync(key)) });
    },
  };
}

function answer(run: () => object): Answer {
  try {
    return { status: 200, body: run() };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, body: { code: error.code, message: error.message } };
  }
}

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function route(received: Received, tokens: Set<string>, links: Links): object {
  const { method, url, headers } = received;
  const { pathname, searchParams } = new URL(url, "http://service.example");
  if (pathname === "/oauth2/token") return issueToken(received, tokens);
  const [scheme, token = ""] = (headers.authorization ?? "").split(" ");
  if (scheme !== "Bearer" || !tokens.has(token)) throw new Refusal(401, 2, "Unauthorized");
  if (headers["content-type"] !== "application/json")
    throw new Refusal(400, 3, "Content-Type must be application/json");
  const [, id, action] = /^\/v1\/payment-links(?:\/(\w+)(?:\/(cancel))?)?$/.exec(pathname) ?? [];
  if (!pathname.startsWith("/v1/payment-links")) throw new Refusal(404, 4, "Not found");
  if (id === undefined && method === "POST") return createLink(links, jsonOf(received.body));
  if (id === undefined && method === "GET") return listLinks(links, searchParams);
  if (id === undefined) throw new Refusal(404, 4, "Not found");
  const link = findLink(links, id);
  if (action === "cancel" && method === "POST") return cancelLink(link);
  if (action === undefined && method === "GET") return showLink(link);
  if (action === undefined && method === "PATCH") return updateLink(links, link, jsonOf(received.body));
  throw new Refusal(404, 4, "Not found");
}

/** Form fields only, every one of them mandatory; HTTP Basic is refused. */
function issueToken({ method, headers, body }: Received, tokens: Set<string>): object {
  const type = headers["content-type"]?.split(";", 1)[0];
  if (method !== "POST" || type !== "application/x-www-form-urlencoded")
    throw new Refusal(400, 10, "Malformed request");
  if (headers.authorization !== undefined) throw new Refusal(401, 11, "Client authentication failed");
  const form = new URLSearchParams(body);
  if (form.get("grant_type") !== "client_credentials") throw new Refusal(400, 12, "Invalid grant_type");
  if (form.get("scope") !== "pay_by_link") throw new Refusal(401, 13, "Invalid scope");
  if (form.get("client_id") !== CLIENT.clientId || form.get("client_secret") !== CLIENT.clientSecret)
    throw new Refusal(401, 11, "Client authentication failed");
  const token = `*${randomBytes(12).toString("hex")}$&`;
  tokens.add(token);
  const rest = { expires_in: 7200, refresh_token: "", scope: "pay_by_link", token_type: "Bearer" };
  return { access_token: token, ...rest };
}

function jsonOf(body: string): Members {
  try {
    return members(JSON.parse(body));
  } catch {
    throw new Refusal(400, 5, "Malformed JSON");
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}
