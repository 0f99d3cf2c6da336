/** Sends HTTP requests, and says for each failure whether the request may have arrived. */
import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import { systemReason } from "../values/system-reason.ts";
import { CONNECT_OPTIONS, CONNECT_TIMEOUT } from "./connect.ts";
import { ACCEPTED_CODINGS, decoded } from "./content-coding.ts";
import { type Send, SendError, type SendOptions, SendTimeout } from "./exchange.ts";
import { fieldLines, headerLines, type HeaderLine, type HttpReply, type HttpRequest } from "./message.ts";
import { proxyFor, type ProxySettings } from "./proxies.ts";

const SEND_TIMEOUT = 30_000;
const MAX_REPLY = 5 * 1024 * 1024;
/** Milliseconds for which a connection waits for the next request: less than servers wait, which must not close it first. */
const IDLE = 4_000;

interface Sender {
  readonly send: Send;
  /** Closes every connection, also one that is still being made. */
  close(): Promise<void>;
}

export interface SenderParts extends ProxySettings {
  /** Sent with each request that has no `User-Agent` of its own. */
  readonly userAgent: string;
}

/** The agents hold the connections: one for each way to connect. */
export function createSender(parts: SenderParts): Sender {
  const agents = new Map<string, Promise<Agent>>();
  const agentFor = (request: HttpRequest, insecure: boolean): Promise<Agent> => {
    const isDirect = insecure || request.scheme === "http";
    const proxy = isDirect ? undefined : proxyFor(new URL(requestOrigin(request)), parts);
    const key = `${request.scheme} ${insecure} ${proxy ?? ""}`;
    const agent = agents.get(key) ?? createAgent(request.scheme, insecure, proxy);
    agents.set(key, agent);
    return agent;
  };
  return {
    send: async (request, options = {}) => {
      const agent = await agentFor(request, options.insecure ?? false);
      const { request: ask } =
        request.scheme === "http" ? await import("node:http") : await import("node:https");
      const { hostname, port } = new URL(requestOrigin(request));
      const begin = (): ClientRequest =>
        ask({
          agent,
          host: hostname.replace(/^\[(.*)\]$/, "$1"),
          port,
          method: request.method,
          path: request.target,
          headers: withDefaults(request, parts.userAgent).flat(),
        });
      return exchange(request, begin, options);
    },
    close: async () =>
      void (await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))),
  };
}

async function createAgent(
  scheme: HttpRequest["scheme"],
  insecure: boolean,
  proxy: string | undefined,
): Promise<Agent> {
  const options = { ...CONNECT_OPTIONS, keepAlive: true, timeout: IDLE, rejectUnauthorized: !insecure };
  if (scheme === "http") return new (await import("node:http")).Agent(options);
  if (proxy === undefined) return new (await import("node:https")).Agent(options);
  const { TunnelAgent } = await import("./tunnel.ts");
  return new TunnelAgent(new URL(proxy), options);
}

const requestOrigin = ({ scheme, authority }: HttpRequest): string => `${scheme}://${authority}`;

/** A forwarded webhook keeps the fields of its sender. */
function withDefaults({ authority, method, headers, body }: HttpRequest, userAgent: string): HeaderLine[] {
  const defaults: readonly HeaderLine[] = [
    ["Host", authority],
    ["User-Agent", userAgent],
    // Without the field, a server may use any coding (RFC 9110 12.5.3).
    ["Accept-Encoding", ACCEPTED_CODINGS],
    ...(method === "GET" ? [] : [["Content-Length", String(body.length)] as const]),
  ];
  return [...headers, ...defaults.filter(([name]) => fieldLines(headers, name).length === 0)];
}

function exchange(
  request: HttpRequest,
  begin: () => ClientRequest,
  {
    timeout = SEND_TIMEOUT,
    maxReply = MAX_REPLY,
    keep = maxReply,
    signal,
    finish = false,
    awaiting,
  }: SendOptions,
): Promise<HttpReply> {
  const origin = requestOrigin(request);
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const outgoing = begin();
    /** The request is written then. */
    let isConnected = false;
    let head: Pick<HttpReply, "status" | "headers"> | undefined;
    let length = 0;
    const chunks: Uint8Array[] = [];
    const settle = (): void => {
      clearTimeout(timer);
      clearTimeout(connecting);
      signal?.removeEventListener("abort", interrupt);
    };
    const end = (error: Error): void => {
      settle();
      reject(error);
      outgoing.destroy();
    };
    const tooLarge = (): SendError =>
      new SendError(`${origin} sent more than ${maxReply} bytes of reply`, true);
    const succeed = ({ status, headers }: Pick<HttpReply, "status" | "headers">): void => {
      settle();
      const body = Buffer.concat(chunks, Math.min(length, keep));
      resolve(
        decoded({ status, headers, body }, keep).then(({ reply, isWhole }) => {
          if (isWhole || keep < maxReply) return reply;
          throw tooLarge();
        }),
      );
    };
    /** Where only the beginning matters, a reply counts once its head is there, however its body ends. */
    const giveUp = (error: Error): void => {
      if (head !== undefined && keep < maxReply) succeed(head);
      end(error);
    };
    const fail = (error: Error): void =>
      giveUp(new SendError(`${origin}: ${systemReason(error)}`, isConnected, error));
    const late = (milliseconds: number): SendTimeout =>
      new SendTimeout(`${origin} did not answer within ${lengthOf(milliseconds)}`, isConnected);
    const interrupt = (): void => {
      if (!finish || !isConnected) end(signal?.reason);
      else awaiting?.();
    };
    const timer = setTimeout(() => giveUp(late(timeout)), timeout);
    const connecting = setTimeout(() => giveUp(late(CONNECT_TIMEOUT)), CONNECT_TIMEOUT);
    signal?.addEventListener("abort", interrupt, { once: true });
    const connected = (): void => {
      isConnected = true;
      clearTimeout(connecting);
      outgoing.end(request.body);
    };
    let incoming: IncomingMessage | undefined;
    const read = (response: IncomingMessage): void => {
      incoming = response;
      const { statusCode: status = 0 } = incoming;
      if (status < 200 || status > 599) return end(new NoStatus(origin, status));
      head = { status, headers: headerLines(incoming.rawHeaders) };
      incoming.on("data", (chunk: Buffer) => {
        if (length < keep) chunks.push(chunk);
        length += chunk.length;
        // The rest is not worth reading.
        if (length > maxReply) giveUp(tooLarge());
      });
      incoming.on("end", () => head && succeed(head));
      incoming.on("error", fail);
    };
    outgoing.on("socket", (socket) => {
      if (outgoing.reusedSocket) connected();
      else socket.once(request.scheme === "https" ? "secureConnect" : "connect", connected);
    });
    outgoing.on("response", read);
    outgoing.on("error", (error) => {
      // What follows a whole reply, as after a 204 that announces a body, says nothing about it.
      if (incoming?.complete !== true) fail(error);
    });
  });
}

/** An answer with a status that HTTP does not have (RFC 9110 15). */
class NoStatus extends SendError {
  /** As that of Node's parser, which takes any three digits. */
  readonly code = "HPE_INVALID_STATUS";

  constructor(origin: string, status: number) {
    super(`${origin} answered with the status ${status}, which HTTP does not have`, true);
  }
}

const lengthOf = (milliseconds: number): string =>
  milliseconds < 950 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
