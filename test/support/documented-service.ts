/** A strict imitation of the documented service, with code of its own: it refuses what the documentation does not allow. */
import type { KeyObject } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { privatelyIssued } from "./certificate.ts";
import {
  cancelLink,
  createLink,
  findLink,
  listLinks,
  members,
  payLink,
  Refusal,
  showLink,
  TERMINAL_ID,
  updateLink,
  type Links,
  type Members,
} from "./documented-links.ts";
import { temporaryHome } from "./home.ts";
import { KEYS } from "./keys.ts";
import { postWebhook, transactionRecord, type Outcome, type PostedWebhook } from "./documented-webhook.ts";
import { listenOnFreePort } from "./ports.ts";

export const CLIENT = { id: "shop+1", secret: "s3cret/+=%&*value" };

/** Opaque, with characters that RFC 6750 does not have. */
export const SERVICE_TOKEN = "op*aque$token";

export interface DocumentedService {
  readonly url: string;
  readonly tokenUrl: string;
  /** What asks for another token. */
  readonly tokenForm: URLSearchParams;
  /** Method and target of each request. */
  readonly requests: readonly string[];
  /** The flags of `login` for an account at it; the client's secret is read from standard input. */
  readonly login: readonly string[];
  /** The same with these flags instead, each with its value. */
  readonly loginWith: (...flags: readonly string[]) => readonly string[];
  /** The key of its webhooks: a certificate with its chain. */
  readonly keyFile: string;
  /** Reports a payment of the link to the callback for its outcome; undefined without one, or if nobody listens there. */
  readonly pay: (linkId: string, outcome: Outcome, report?: Report) => Promise<PostedWebhook | undefined>;
}

/** What goes wrong with the report of a payment. */
export interface Report {
  /** Signs in place of the service's own key. */
  readonly key?: KeyObject;
  /** In place of the amount of the link. */
  readonly amount?: number;
}

/** What gateways before the service do. */
export interface Gateway {
  /** The most links that a page has. */
  readonly largestPage?: number;
  /** The status of an update and a cancellation, which are then answered with nothing. */
  readonly changed?: 200 | 204;
  /** Whether an address without a slash at its end is redirected to the one with it, or the other way round. */
  readonly slash?: "added" | "removed";
  /** After so many requests, a token is answered 403. */
  readonly tokenUses?: number;
  /** The link is created, and then the gateway gives up. */
  readonly givesUp?: boolean;
  /** The member that the reply is wrapped in. */
  readonly envelope?: string;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export async function startDocumentedService(gateway: Gateway = {}): Promise<DocumentedService> {
  const folder = temporaryHome();
  const { privateKey, privatePem } = KEYS;
  const { cert, ca } = privatelyIssued(folder, ["webhooks.service.example"], { days: 365, privatePem });
  const keyFile = join(folder, "webhook-chain.pem");
  writeFileSync(keyFile, readFileSync(cert, "utf8") + readFileSync(ca, "utf8"));
  const tokens: Tokens = { issued: 0, uses: 0 };
  const links: Links = new Map();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { method = "", url = "", headers } = request;
      requests.push(`${method} ${url}`);
      const { pathname, search } = new URL(url, "http://service.example");
      const spelled = slashed(pathname, gateway.slash);
      if (spelled !== pathname) return response.writeHead(308, { Location: spelled + search }).end();
      const reply = answer(() => route({ method, url, headers, body }, tokens, links, gateway), gateway);
      const isChange = method === "PATCH" || pathname.endsWith("/cancel");
      if (gateway.givesUp === true && method === "POST" && /payment-links\/?$/.test(pathname))
        return response
          .writeHead(503, { "Content-Type": "text/html" })
          .end("<html>Service Unavailable</html>");
      if (isChange && gateway.changed !== undefined && reply.status === 200)
        return response.writeHead(gateway.changed).end();
      return response.writeHead(reply.status, { "Content-Type": reply.type }).end(reply.body);
    });
  });
  const address = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  const tokenUrl = `${address}/oauth2/token`;
  const place = ["--service", "dna-test", "--base-url", address, "--token-url", tokenUrl];
  const defaults = ["--terminal-id", TERMINAL_ID, "--currency", "GBP", "--customer-name", "Ada Lovelace"];
  const login = [...place, ...defaults, "--client-id", CLIENT.id, "--client-secret-stdin"];
  let payments = 0;
  return {
    url: address,
    tokenUrl,
    tokenForm: new URLSearchParams({
      grant_type: "client_credentials",
      scope: "pay_by_link",
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
    }),
    requests,
    login,
    loginWith: (...flags) => [
      ...login.filter((word, index) => !flags.includes(word) && !flags.includes(login[index - 1] ?? "")),
      ...flags,
    ],
    keyFile,
    pay: async (linkId, outcome, { key = privateKey, amount } = {}) => {
      const link = findLink(links, linkId);
      const { request } = link;
      if (outcome === "approved") payLink(link);
      const { invoiceId } = request;
      const { callbackUrl, failureCallbackUrl } = members(request["paymentSettings"]);
      const url = outcome === "approved" ? callbackUrl : failureCallbackUrl;
      if (typeof url !== "string") return undefined;
      const record = transactionRecord({
        reference: typeof invoiceId === "string" ? invoiceId : linkId,
        terminalId: TERMINAL_ID,
        amount: amount ?? Number(request["amount"]),
        currency: String(request["currency"]),
        outcome,
        number: ++payments,
      });
      return postWebhook({ url, body: record, key }).catch(() => undefined);
    },
  };
}

const slashed = (path: string, slash: Gateway["slash"]): string => {
  if (!path.startsWith("/v1/") || slash === undefined) return path;
  const bare = path.replace(/\/$/, "");
  return slash === "added" ? `${bare}/` : bare;
};

function answer(run: () => object, { envelope }: Gateway): Answer {
  const type = "application/json";
  try {
    const reply = run();
    const isToken = "access_token" in reply;
    const body = envelope === undefined || isToken ? reply : { status: "ok", [envelope]: reply };
    return { status: 200, type, body: JSON.stringify(body) };
  } catch (error) {
    if (error === NO_SUCH_PAGE)
      return { status: 404, type: "text/html", body: "<html><title>Page not found</title></html>" };
    if (!(error instanceof Refusal)) throw error;
    const { status, code, message } = error;
    return { status, type, body: JSON.stringify({ code, message }) };
  }
}

/** What the web server in front of the service answers, as a page. */
const NO_SUCH_PAGE = new Refusal(404, 0, "Page not found");

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The one token that is valid: the last that was issued. */
interface Tokens {
  issued: number;
  uses: number;
}

const tokenNow = ({ issued }: Tokens): string => (issued < 2 ? SERVICE_TOKEN : `${SERVICE_TOKEN}${issued}`);

function route(received: Received, tokens: Tokens, links: Links, gateway: Gateway): object {
  const { method, url, headers } = received;
  const { pathname, searchParams } = new URL(url, "http://service.example");
  if (pathname === "/oauth2/token") return issueToken(received, tokens);
  const path = /^\/v1\/payment-links(?:\/(\w+)(?:\/(cancel))?)?\/?$/.exec(pathname);
  if (path === null) throw NO_SUCH_PAGE;
  const [scheme, token = ""] = (headers.authorization ?? "").split(" ");
  if (tokens.uses++ >= (gateway.tokenUses ?? Number.POSITIVE_INFINITY))
    throw new Refusal(403, 4, "Forbidden");
  if (scheme !== "Bearer" || tokens.issued === 0 || token !== tokenNow(tokens))
    throw new Refusal(401, 2, "Bad credentials");
  if (headers["content-type"] !== "application/json")
    throw new Refusal(400, 3, "Content-Type must be application/json");
  const [, id, action] = path;
  if (id === undefined && method === "POST") return createLink(links, jsonOf(received.body));
  if (id === undefined && method === "GET")
    return listLinks(links, searchParams, gateway.largestPage ?? 5000);
  if (id === undefined) throw NO_SUCH_PAGE;
  const link = findLink(links, id);
  if (action === "cancel" && method === "POST") return cancelLink(link);
  if (action === undefined && method === "GET") return showLink(link);
  if (action === undefined && method === "PATCH") return updateLink(links, link, jsonOf(received.body));
  throw NO_SUCH_PAGE;
}

/** Form fields only, every one of them mandatory; HTTP Basic is refused. */
function issueToken({ method, headers, body }: Received, tokens: Tokens): object {
  const type = headers["content-type"]?.split(";", 1)[0];
  if (method !== "POST" || type !== "application/x-www-form-urlencoded")
    throw new Refusal(400, 10, "Malformed request");
  if (headers.authorization !== undefined) throw new Refusal(401, 11, "Bad client credentials");
  const form = new URLSearchParams(body);
  if (form.get("grant_type") !== "client_credentials") throw new Refusal(400, 12, "Invalid grant_type");
  if (form.get("scope") !== "pay_by_link") throw new Refusal(401, 13, "Unknown scope");
  if (form.get("client_id") !== CLIENT.id || form.get("client_secret") !== CLIENT.secret)
    throw new Refusal(401, 11, "Bad client credentials");
  Object.assign(tokens, { issued: tokens.issued + 1, uses: 0 });
  const rest = { expires_in: 7200, refresh_token: "", scope: "pay_by_link", token_type: "Bearer" };
  return { access_token: tokenNow(tokens), ...rest };
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
