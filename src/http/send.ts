/** Sends HTTP requests over undici, and knows of each failure whether the request can have arrived. */
import type { Dispatcher } from "undici";
import { SendError, SendTimeout, type Send, type SendOptions } from "./exchange.ts";
import type { HeaderLine, HttpReply, HttpRequest } from "./message.ts";

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
}

type Route = "direct" | "proxied" | "insecure";

export function createSender(parts: SenderParts): Sender {
  const agents = new Map<string, Promise<Dispatcher>>();
  // undici limits the time to connect for each agent, and cannot abort an attempt to connect for a single request.
  const agentFor = (route: Route, timeout: number): Promise<Dispatcher> => {
    const connectTimeout = Math.min(timeout, CONNECT_TIMEOUT);
    const key = `${route} ${connectTimeout}`;
    const agent = agents.get(key) ?? createAgent(route, parts, connectTimeout);
    agents.set(key, agent);
    return agent;
  };
  return {
    send: async (request, options = {}) => {
      const proxied = request.scheme === "https" && parts.httpsProxy !== undefined;
      const route = options.insecure === true ? "insecure" : proxied ? "proxied" : "direct";
      return exchange(await agentFor(route, options.timeout ?? TIMEOUT), request, options);
    },
    close: async () =>
      void (await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))),
  };
}

async function createAgent(
  route: Route,
  { httpsProxy = "", noProxy = "", nodeVersion }: SenderParts,
  timeout: number,
): Promise<Dispatcher> {
  const connect = { timeout, rejectUnauthorized: route !== "insecure" };
  if (route === "proxied") {
    const { EnvHttpProxyAgent } = await import("undici");
    return new EnvHttpProxyAgent({ httpsProxy, noProxy, connect });
  }
  // undici's index also loads fetch, WebSocket and mocks: `create` then takes a quarter longer (startup bench).
  const { default: Agent } = await import("undici/lib/dispatcher/agent.js");
  if (nodeVersion.startsWith("20.")) await keepParserSimple();
  return new Agent({ connect });
}

/**
 * Node 20 optimizes all of undici's WebAssembly parser as soon as it is compiled: `create` then takes twice as long (startup
 * bench). Set after undici is loaded, because V8 takes Node's own compiled modules only under the flags they were made with.
 */
async function keepParserSimple(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--liftoff-only");
}

function exchange(agent: Dispatcher, request: HttpRequest, options: SendOptions): Promise<HttpReply> {
  const { timeout = TIMEOUT, maxReply = MAX_REPLY, signal, finish = false } = options;
  const origin = `${request.scheme}://${request.authority}`;
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
          reject(given ?? new SendError(`${origin}: ${describe(error)}`, controller !== undefined, error));
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

/** Node wraps several failed attempts to connect in one error without a message of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join("; ");
  return error instanceof Error ? error.message || error.name : String(error);
}
