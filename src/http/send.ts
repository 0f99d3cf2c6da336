/** Sends HTTP requests over undici, and knows of each failure whether the request can have arrived. */
import type { Dispatcher } from "undici";
import { messageOf } from "../domain/errors.ts";
import { skipContinue } from "./continue-responses.ts";
import { ACCEPTED_CODINGS, decodeReply } from "./content-codings.ts";
import { SendError, SendTimeout, type Send, type SendOptions, type TlsFiles } from "./exchange.ts";
import { fieldLines, type HeaderLine, type HttpReply, type HttpRequest } from "./message.ts";

const TIMEOUT = 30_000;
const CONNECT_TIMEOUT = 10_000;
const MAX_REPLY = 5 * 1024 * 1024;

export interface Sender {
  readonly send: Send;
  /** Closes every connection, also one that is still being made. */
  close(): Promise<void>;
}

export interface SenderParts {
  readonly httpsProxy: string | undefined;
  readonly noProxy: string | undefined;
  readonly nodeVersion: string;
  /** Sent with each request that has no `User-Agent` of its own. */
  readonly userAgent: string;
}

/** What decides which connections may carry a request: each combination has an agent of its own. */
interface Route {
  readonly kind: "direct" | "proxied" | "insecure";
  /** Milliseconds to connect: undici limits them for each agent, and cannot abort an attempt for a single request. */
  readonly connectTimeout: number;
  readonly clientCertificate: TlsFiles | undefined;
}

export function createSender(parts: SenderParts): Sender {
  const agents = new Map<string, Promise<Dispatcher>>();
  const agentFor = (route: Route): Promise<Dispatcher> => {
    const { kind, connectTimeout, clientCertificate } = route;
    const key = `${kind} ${connectTimeout} ${Buffer.from(clientCertificate?.cert ?? []).toString("latin1")}`;
    const agent = agents.get(key) ?? createAgent(route, parts);
    agents.set(key, agent);
    return agent;
  };
  return {
    send: async (request, options = {}) => {
      const { timeout = TIMEOUT, maxReply = MAX_REPLY, clientCertificate, signal, finish } = options;
      const proxied = request.scheme === "https" && parts.httpsProxy !== undefined;
      const agent = await agentFor({
        kind: options.insecure === true ? "insecure" : proxied ? "proxied" : "direct",
        connectTimeout: Math.min(timeout, CONNECT_TIMEOUT),
        clientCertificate,
      });
      const limits = { timeout, maxReply, signal, finish };
      const reply = await exchange(agent, withDefaults(request, parts.userAgent), limits);
      return decodeReply(reply, maxReply).catch((error: unknown) => {
        throw new SendError(`${originOf(request)} ${messageOf(error)}`, true, error);
      });
    },
    close: async () =>
      void (await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))),
  };
}

const originOf = ({ scheme, authority }: HttpRequest): string => `${scheme}://${authority}`;

/** A forwarded webhook keeps the fields of its sender. */
function withDefaults(request: HttpRequest, userAgent: string): HttpRequest {
  const defaults: readonly HeaderLine[] = [
    ["User-Agent", userAgent],
    ["Accept-Encoding", ACCEPTED_CODINGS],
  ];
  const added = defaults.filter(([name]) => fieldLines(request.headers, name).length === 0);
  return added.length === 0 ? request : { ...request, headers: [...request.headers, ...added] };
}

async function createAgent(
  { kind, connectTimeout, clientCertificate }: Route,
  { httpsProxy = "", noProxy = "", nodeVersion }: SenderParts,
): Promise<Dispatcher> {
  const identity =
    clientCertificate === undefined
      ? {}
      : { cert: Buffer.from(clientCertificate.cert), key: Buffer.from(clientCertificate.key) };
  const connect = { timeout: connectTimeout, rejectUnauthorized: kind !== "insecure", ...identity };
  if (kind === "proxied") {
    const { EnvHttpProxyAgent } = await import("undici");
    return new EnvHttpProxyAgent({ httpsProxy, noProxy, connect, requestTls: identity });
  }
  // undici's index also loads fetch, WebSocket and mocks: `create` then takes a quarter longer (startup bench).
  const { default: Agent } = await import("undici/lib/dispatcher/agent.js");
  if (nodeVersion.startsWith("20.")) await keepParserSimple();
  const { default: buildConnector } = await import("undici/lib/core/connect.js");
  const connector = buildConnector(connect);
  return new Agent({
    connect: (target, connected) =>
      connector(target, (...result) => {
        if (result[0] === null) skipContinue(result[1]);
        connected(...result);
      }),
  });
}

/**
 * Node 20 optimizes all of undici's WebAssembly parser as soon as it is compiled: `create` then takes twice as long (startup
 * bench). Set after undici is loaded, because V8 takes Node's own compiled modules only under the flags they were made with.
 */
async function keepParserSimple(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--liftoff-only");
}

type Limits = Required<Pick<SendOptions, "timeout" | "maxReply">> & {
  readonly signal: AbortSignal | undefined;
  readonly finish: boolean | undefined;
};

function exchange(
  agent: Dispatcher,
  request: HttpRequest,
  { timeout, maxReply, signal, finish = false }: Limits,
): Promise<HttpReply> {
  const origin = originOf(request);
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let given: Error | undefined;
    let status = 0;
    let headers: readonly HeaderLine[] = [];
    let length = 0;
    const chunks: Uint8Array[] = [];
    const end = (error: Error): void => {
      given = error;
      settle();
      controller?.abort(error);
      reject(error);
    };
    const giveUp = (Failure: typeof SendError, reason: string): void =>
      end(new Failure(`${origin} ${reason}`, controller !== undefined));
    const interrupt = (): void => {
      if (!finish || controller === undefined) end(signal?.reason);
    };
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", interrupt);
    };
    const timer = setTimeout(
      () => giveUp(SendTimeout, `did not answer within ${lengthOf(timeout)}`),
      timeout,
    );
    signal?.addEventListener("abort", interrupt, { once: true });
    agent.dispatch(
      {
        origin,
        path: request.target,
        method: request.method,
        headers: request.headers.flat(),
        body: request.body.length > 0 ? request.body : null,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        // Called exactly when undici takes a connection for the request: before that, nothing can have left.
        onRequestStart: (started) => {
          if (given !== undefined) started.abort(given);
          else controller = started;
        },
        onResponseStart: (started, statusCode) => {
          status = statusCode;
          headers = pairs(started.rawHeaders);
        },
        onResponseData: (_, chunk) => {
          length += chunk.length;
          chunks.push(chunk);
          if (length > maxReply) giveUp(SendError, `sent more than ${maxReply} bytes of reply`);
        },
        onResponseEnd: () => {
          settle();
          resolve({ status, headers, body: Buffer.concat(chunks, length) });
        },
        onResponseError: (_, error) => {
          settle();
          const sent = controller !== undefined && !(status === 0 && isRefusedCertificate(error));
          reject(given ?? new SendError(`${origin}: ${describe(error)}`, sent, error));
        },
      },
    );
  });
}

const lengthOf = (milliseconds: number): string =>
  milliseconds < 950 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

/** undici gives names and values as one flat list of buffers; latin1 keeps one character an octet. */
function pairs(raw: Dispatcher.DispatchController["rawHeaders"]): HeaderLine[] {
  const lines: HeaderLine[] = [];
  if (!Array.isArray(raw)) return lines;
  const text = raw.map((part) => (typeof part === "string" ? part : part.toString("latin1")));
  for (let index = 0; index + 1 < text.length; index += 2)
    lines.push([text[index] ?? "", text[index + 1] ?? ""]);
  return lines;
}

/**
 * The server refused the client's certificate, or wants one. In TLS 1.3 the client learns this after its own part of the
 * handshake, and may have sent the request by then; a server does not read it before the client is authenticated.
 */
function isRefusedCertificate(error: Error): boolean {
  const code = "code" in error ? String(error.code) : "";
  return /^ERR_SSL_.*_ALERT_(?:.*CERTIFICATE.*|UNKNOWN_CA|HANDSHAKE_FAILURE|ACCESS_DENIED)$/.test(code);
}

/** Node wraps several failed attempts to connect in one error without a message of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join("; ");
  return error instanceof Error ? error.message || error.name : String(error);
}
