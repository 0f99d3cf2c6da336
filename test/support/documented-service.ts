/** A strict imitation of the service as its public documentation describes it, apart from the sandbox. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { ANSWER } from "./link-request.ts";

export const CLIENT = { id: "shop", secret: "s3cret*value" };
const TERMINAL = "1234567890";
export const SERVICE_TOKEN = "op*aque$token";

export interface DocumentedService {
  readonly url: string;
  readonly tokenUrl: string;
  /** Method and target of each request. */
  readonly requests: readonly string[];
  /** The flags of `login` for an account at it; the client's secret comes from standard input. */
  readonly login: readonly string[];
}

type Respond = (status: number, body: string, type?: string) => void;

export async function startDocumentedService(): Promise<DocumentedService> {
  const requests: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      requests.push(`${incoming.method} ${incoming.url}`);
      answer(incoming, Buffer.concat(chunks).toString(), respondTo(outgoing));
    });
  });
  await new Promise<void>((bound) => server.listen(0, "127.0.0.1", bound));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tokenUrl = `${url}/oauth2/token`;
  const place = ["--service", "dna-test", "--base-url", url, "--token-url", tokenUrl];
  const defaults = ["--terminal-id", TERMINAL, "--currency", "GBP", "--customer-name", "Ada Lovelace"];
  const login = [...place, ...defaults, "--client-id", CLIENT.id, "--client-secret-stdin"];
  return { url, tokenUrl, requests, login };
}

const respondTo =
  (outgoing: ServerResponse): Respond =>
  (status, body, type = "application/json") =>
    void outgoing.writeHead(status, { "Content-Type": type }).end(body);

function answer({ method, url = "", headers }: IncomingMessage, body: string, respond: Respond): void {
  const { pathname, searchParams } = new URL(url, "http://service.example");
  if (pathname === "/oauth2/token")
    return issueToken(headers["content-type"], new URLSearchParams(body), respond);
  if (pathname !== "/v1/payment-links")
    return respond(404, "<html><title>Page not found</title></html>", "text/html");
  if (headers.authorization !== `Bearer ${SERVICE_TOKEN}`)
    return respond(401, '{"code":101,"message":"Bad credentials"}');
  if (method === "POST") return respond(200, ANSWER);
  if (!["terminalId", "from", "to"].every((name) => searchParams.has(name)))
    return respond(400, '{"code":100,"message":"terminalId, from and to are mandatory"}');
  if (searchParams.get("terminalId") !== TERMINAL)
    return respond(403, '{"code":103,"message":"The terminal is not yours"}');
  return respond(200, '{"totalCount":0,"records":[]}');
}

function issueToken(type: string | undefined, form: URLSearchParams, respond: Respond): void {
  if (type !== "application/x-www-form-urlencoded") return respond(400, '{"code":1,"message":"Not a form"}');
  if (form.get("scope") !== "pay_by_link") return respond(400, '{"code":2,"message":"Unknown scope"}');
  const known = form.get("client_id") === CLIENT.id && form.get("client_secret") === CLIENT.secret;
  if (!known || form.get("grant_type") !== "client_credentials")
    return respond(401, '{"code":3,"message":"Bad client credentials"}');
  return respond(
    200,
    JSON.stringify({
      access_token: SERVICE_TOKEN,
      expires_in: 3600,
      scope: "pay_by_link",
      token_type: "Bearer",
    }),
  );
}
