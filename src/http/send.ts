/** Sends HTTP requests over undici, and says for each failure whether the request may have arrived. */
import { version } from "node:process";
import type { buildConnector, Dispatcher, Pool } from "undici";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { messageOf, systemReason } from "../values/system-reason.ts";
import { CONNECT_OPTIONS, skipContinue } from "./connect.ts";
import { ACCEPTED_CODINGS, decoded } from "./content-coding.ts";
import { ProxyFailure, type Send, SendError, type SendOptions, SendTimeout } from "./exchange.ts";
import {
  fieldLines,
  headerLines,
  type HeaderLine,
  type HttpReply,
  type HttpRequest,
  NO_BODY,
} from "./message.ts";
import { proxyFor, type ProxySettings } from "./proxies.ts";

const SEND_TIMEOUT = 30_000;
const CONNECT_TIMEOUT = 10_000;
const MAX_REPLY = 5 * 1024 * 1024;

interface Sender {
  readonly send: Send;
  /** Closes every connection, also one that is still being made. */
  close(): Promise<void>;
}

export interface SenderParts extends ProxySettings {
  /** Sent with each request that has no `User-Agent` of its own. */
  readonly userAgent: string;
}

/** The agents of undici hold the connections: one for each way to connect. */
export function createSender(parts: SenderParts): Sender {
  const agents = new Map<string, Promise<Dispatcher>>();
  const agentFor = (route: ConnectRoute): Promise<Dispatcher> => {
    const key = `${route.kind} ${route.proxy ?? ""} ${route.connectTimeout}`;
    const agent = agents.get(key) ?? createAgent(route);
    agents.set(key, agent);
    return agent;
  };
  return {
    send: async (request, options = {}) => {
      const agent = await agentFor(routeOf(request, options, parts));
      return dispatch(agent, withDefaults(request, parts.userAgent), options);
    },
    close: async () =>
      void (await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))),
  };
}

const requestOrigin = ({ scheme, authority }: HttpRequest): string => `${scheme}://${authority}`;

/** A forwarded webhook keeps the fields of its sender. */
function withDefaults(request: HttpRequest, userAgent: string): HttpRequest {
  const defaults: readonly HeaderLine[] = [
    ["User-Agent", userAgent],
    // Without the field, a server may use any coding (RFC 9110 12.5.3).
    ["Accept-Encoding", ACCEPTED_CODINGS],
  ];
  const missing = defaults.filter(([name]) => fieldLines(request.headers, name).length === 0);
  return { ...request, headers: [...request.headers, ...missing] };
}

function dispatch(
  agent: Dispatcher,
  request: HttpRequest,
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
    const tooLarge = (): SendError =>
      new SendError(`${origin} sent more than ${maxReply} bytes of reply`, true);
    const succeed = (): void => {
      const body = Buffer.concat(chunks, Math.min(length, keep));
      const reading = decoded({ status, headers, body }, keep);
      resolve(
        reading.then(({ reply, isWhole }) => {
          if (isWhole || keep < maxReply) return reply;
          throw tooLarge();
        }),
      );
    };
    /** Where only the beginning matters, a reply counts once its head is there, however its body ends. */
    const isEnough = (): boolean => status !== 0 && keep < maxReply;
    const giveUp = (Failure: typeof SendError, reason: string): void => {
      if (isEnough()) succeed();
      end(new Failure(`${origin} ${reason}`, controller !== undefined));
    };
    const interrupt = (): void => {
      if (!finish || controller === undefined) end(signal?.reason);
      else awaiting?.();
    };
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", interrupt);
    };
    const timer = setTimeout(
      () => giveUp(SendTimeout, `did not answer within ${lengthOf(timeout)}`),
      timeout,
    );
    if (signal?.aborted === true) return interrupt();
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
          // An interim answer (RFC 9110 15.2) says nothing of the final one.
          if (statusCode < 200) return;
          if (statusCode > 599)
            return end(
              new SendError(
                `${origin} answered with the status ${statusCode}, which HTTP does not have`,
                true,
              ),
            );
          status = statusCode;
          // In latin1, each octet is a character.
          const raw: unknown[] = Array.isArray(started.rawHeaders) ? started.rawHeaders : [];
          headers = headerLines(
            raw.map((part) => (part instanceof Buffer ? part.toString("latin1") : String(part))),
          );
        },
        onResponseData: (_, chunk) => {
          if (length < keep) chunks.push(chunk);
          length += chunk.length;
          if (length <= maxReply) return;
          // The rest is not worth reading.
          if (isEnough()) succeed();
          end(tooLarge());
        },
        onResponseEnd: () => {
          settle();
          succeed();
        },
        onResponseError: (_, error) => {
          settle();
          // It ends with its head, whatever that promises (RFC 9112 6.3). undici misses the body, and closes the connection.
          if (status === 204 && given === undefined) return resolve({ status, headers, body: NO_BODY });
          if (isEnough() && given === undefined) return succeed();
          reject(
            given ?? new SendError(`${origin}: ${systemReason(error)}`, controller !== undefined, error),
          );
        },
      },
    );
  });
}

const lengthOf = (milliseconds: number): string =>
  milliseconds < 950 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

/** What decides which connections may carry a request. Each combination has its own agent. */
interface ConnectRoute {
  readonly kind: "direct" | "insecure";
  /** The proxy of https requests. */
  readonly proxy: string | undefined;
  /** Milliseconds to connect: undici limits them for each agent, and cannot abort an attempt for a single request. */
  readonly connectTimeout: number;
}

function routeOf(
  { scheme, authority }: HttpRequest,
  { insecure = false, timeout = SEND_TIMEOUT }: SendOptions,
  proxies: ProxySettings,
): ConnectRoute {
  return {
    kind: insecure ? "insecure" : "direct",
    proxy: insecure || scheme === "http" ? undefined : proxyFor(new URL(`${scheme}://${authority}`), proxies),
    // Rounded up to a power of two: with an agent for each timeout, a long run would open more and more agents.
    connectTimeout: Math.min(CONNECT_TIMEOUT, 2 ** Math.ceil(Math.log2(Math.max(1, timeout)))),
  };
}

async function createAgent(route: ConnectRoute): Promise<Dispatcher> {
  try {
    return await loadAgent(route);
  } catch (error) {
    // A file of the program that is damaged or missing: the request has not left.
    throw new PaylinkError("internal", `A file of paylink is missing or damaged: ${messageOf(error)}`, {
      cause: error,
      hints: [hint`Install paylink again: npm install --global paylink. The request was not sent.`],
    });
  }
}

async function loadAgent({ kind, proxy, connectTimeout }: ConnectRoute): Promise<Dispatcher> {
  const { Agent, Pool, ProxyAgent, buildConnector } = await import("undici");
  // HTTP/1.1 alone: paylink needs no more, and undici handles it better.
  const options = { allowH2: false } as const;
  const connect = {
    ...CONNECT_OPTIONS,
    ...options,
    timeout: connectTimeout,
    rejectUnauthorized: kind !== "insecure",
  };
  if (proxy !== undefined) {
    return new ProxyAgent({
      uri: proxy,
      ...credentialsOf(new URL(proxy)),
      ...options,
      proxyTls: connect,
      clientFactory: (address, poolOptions) => proxyClient(new Pool(address, poolOptions), address.origin),
      // It makes the connections through the tunnel.
      factory: (origin, { connect: tunnel, ...others }: Pool.Options) =>
        new Pool(origin, {
          ...others,
          ...(typeof tunnel === "function" ? { connect: skippingContinue(tunnel) } : {}),
        }),
    });
  }
  if (version.startsWith("v20.")) await keepParserSimple();
  return new Agent({ connect: skippingContinue(buildConnector(connect)), ...options });
}

const skippingContinue =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      skipContinue(socket);
      callback(null, socket);
    });

/** A proxy may ask for a user alone, for which undici sends nothing. */
function credentialsOf({ username, password }: URL): { readonly token?: string } {
  if (username === "") return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { token: `Basic ${Buffer.from(pair).toString("base64")}` };
}

/**
 * Node 20 optimizes all of undici's WebAssembly parser as soon as it is compiled: `create` then takes twice as long (startup
 * bench). Set after undici is loaded, because V8 accepts Node's own compiled modules only under the flags they were made with.
 */
async function keepParserSimple(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--liftoff-only");
}

/** The connections to a proxy, whose failures name it: undici does not tell them from those of the service. */
function proxyClient(pool: Pool, name: string): Pool {
  const openTunnel = pool.connect.bind(pool);
  const tunnel = async (options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    const answer = await openTunnel(options).catch((error: unknown) => {
      throw new ProxyFailure(`the proxy ${name} was not reached: ${systemReason(error)}`, { cause: error });
    });
    if (answer.statusCode === 200) return answer;
    answer.socket.on("error", () => undefined).destroy();
    throw new ProxyFailure(`the proxy ${name} answered ${answer.statusCode}`, { status: answer.statusCode });
  };
  return Object.assign(pool, { connect: tunnel });
}
