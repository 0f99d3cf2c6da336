/** Sends HTTP requests over undici, and says for each failure whether the request may have arrived. */
import type { Socket } from "node:net";
import type { Dispatcher, Pool } from "undici";
import { isReadableUrl, parseWebAddress, withoutPassword } from "../domain/addresses.ts";
import { hint, PaylinkError } from "../domain/errors.ts";
import { codeOf, systemReason } from "../domain/system-reason.ts";
import {
  ClosedWithoutAnswer,
  ProxyFailed,
  type Send,
  SendError,
  type SendOptions,
  SendTimeout,
  systemCode,
  type TlsFiles,
} from "./exchange.ts";
import { fieldLines, headerLines, type HeaderLine, type HttpReply, type HttpRequest } from "./message.ts";

const TIMEOUT = 30_000;
const CONNECT_TIMEOUT = 10_000;
const MAX_REPLY = 5 * 1024 * 1024;

interface Sender {
  readonly send: Send;
  /** Closes every connection, also one that is still being made. */
  close(): Promise<void>;
}

export interface SenderParts {
  /** Sent with each request that has no `User-Agent` of its own. */
  readonly userAgent: string;
  readonly httpsProxy: string | undefined;
  readonly noProxy: string | undefined;
  readonly nodeVersion: string;
}

/** The agents of undici hold the connections: one for each way to connect. */
export function createSender(parts: SenderParts): Sender {
  const agents = new Map<string, Promise<Dispatcher>>();
  const agentFor = (route: Route): Promise<Dispatcher> => {
    const certificate = Buffer.from(route.clientCertificate?.cert ?? []).toString("latin1");
    const key = `${route.kind} ${route.proxy ?? ""} ${route.connectTimeout} ${route.isHttp2} ${certificate}`;
    const agent = agents.get(key) ?? createAgent(route, parts);
    agents.set(key, agent);
    return agent;
  };
  /** The origins that speak HTTP/2 alone. */
  const http2Only = new Set<string>();
  return {
    send: async (request, options = {}) => {
      const origin = originOf(request);
      const route = routeOf(request, options, parts);
      const attempt = async (isHttp2: boolean): Promise<HttpReply> =>
        exchange(await agentFor({ ...route, isHttp2 }), withDefaults(request, parts.userAgent), options);
      return attempt(http2Only.has(origin)).catch((error: unknown) => {
        if (http2Only.has(origin) || systemCode(error) !== NO_COMMON_PROTOCOL) throw error;
        http2Only.add(origin);
        return attempt(true);
      });
    },
    close: async () =>
      void (await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))),
  };
}

/** The server has neither of the protocols that the client named in the TLS handshake (RFC 7301 3.2): nothing was sent. */
const NO_COMMON_PROTOCOL = "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL";

const originOf = ({ scheme, authority }: HttpRequest): string => `${scheme}://${authority}`;

/** A forwarded webhook keeps the fields of its sender. */
function withDefaults(request: HttpRequest, userAgent: string): HttpRequest {
  return fieldLines(request.headers, "user-agent").length > 0
    ? request
    : { ...request, headers: [...request.headers, ["User-Agent", userAgent]] };
}

const NO_BODY = new Uint8Array();

/** The codes for a connection that the server closed, by whatever part of Node noticed it. */
const CLOSED = /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|ERR_SSL_\w+_ALERT_CERTIFICATE_REQUIRED)$/;

function exchange(
  agent: Dispatcher,
  request: HttpRequest,
  {
    timeout = TIMEOUT,
    maxReply = MAX_REPLY,
    keep = maxReply,
    signal,
    finish = false,
    clientCertificate,
  }: SendOptions,
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
    const succeed = (): void =>
      resolve({ status, headers, body: Buffer.concat(chunks, Math.min(length, keep)) });
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
          // Where only the beginning matters, the reply counts, and the rest is not worth reading.
          if (keep < maxReply) succeed();
          giveUp(SendError, `sent more than ${maxReply} bytes of reply`);
        },
        onResponseEnd: () => {
          settle();
          succeed();
        },
        onResponseError: (_, error) => {
          settle();
          // It ends with its head, whatever that promises (RFC 9112 6.3). undici misses the body, and closes the connection.
          if (status === 204 && given === undefined) return resolve({ status, headers, body: NO_BODY });
          if (error instanceof ProxyFailed)
            return reject(given ?? new ProxyFailed(`${origin}: ${error.message}`, false, error.cause));
          const isSent = controller !== undefined;
          const isAnonymous = request.scheme === "https" && clientCertificate === undefined;
          const isUnanswered = isSent && status === 0 && CLOSED.test(codeOf(error));
          const Failure = isAnonymous && isUnanswered ? ClosedWithoutAnswer : SendError;
          reject(given ?? new Failure(`${origin}: ${systemReason(error)}`, isSent, error));
        },
      },
    );
  });
}

const lengthOf = (milliseconds: number): string =>
  milliseconds < 950 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

/** What decides which connections may carry a request. Each combination has its own agent. */
interface Route {
  /** Only where the server refuses HTTP/1.1: undici handles that better. */
  readonly isHttp2: boolean;
  readonly kind: "direct" | "insecure";
  /** The proxy of https requests. */
  readonly proxy: string | undefined;
  /** Milliseconds to connect: undici limits them for each agent, and cannot abort an attempt for a single request. */
  readonly connectTimeout: number;
  readonly clientCertificate: TlsFiles | undefined;
}

function routeOf(
  { scheme }: HttpRequest,
  { insecure = false, timeout = TIMEOUT, clientCertificate }: SendOptions,
  { httpsProxy }: SenderParts,
): Route {
  return {
    kind: insecure ? "insecure" : "direct",
    isHttp2: false,
    proxy: scheme === "https" && !insecure && httpsProxy ? proxyAddress(httpsProxy) : undefined,
    // Rounded up to a power of two: with an agent for each timeout, a long run would open more and more agents.
    connectTimeout: Math.min(CONNECT_TIMEOUT, 2 ** Math.ceil(Math.log2(Math.max(1, timeout)))),
    clientCertificate,
  };
}

/** The URL of a proxy, which may be written without its scheme. Throws `usage`. */
function proxyAddress(text: string): string {
  const address = text.includes("://") ? text : `http://${text}`;
  const url = isReadableUrl(address) ? parseWebAddress(address) : undefined;
  // What follows the host is the rest of a password that was not escaped.
  if (url !== undefined && url.pathname + url.search + url.hash === "/") return address;
  const [, other] = /^(?!https?:)([a-z][a-z\d+.-]*):\/\//i.exec(address) ?? [];
  if (other !== undefined)
    throw new PaylinkError("usage", `HTTPS_PROXY names a proxy of the kind ${other}.`, {
      hints: [
        hint`paylink uses proxies with http:// or https:// only. Set HTTPS_PROXY to the address of one.`,
      ],
    });
  throw new PaylinkError(
    "usage",
    `HTTPS_PROXY is no address of a proxy (got "${withoutPassword(address)}").`,
    {
      hints: [
        hint`Write it as http://<user>:<password>@<host>:<port>. In the password, write %23 for # and %2F for /.`,
      ],
    },
  );
}

/**
 * Takes single modules of undici: its index also loads fetch, WebSocket and mocks, with which `create` takes a quarter longer
 * (startup bench) and the package is a tenth larger (size bench).
 */
async function createAgent(
  { kind, proxy, connectTimeout, clientCertificate, isHttp2 }: Route,
  { noProxy = "", nodeVersion }: SenderParts,
): Promise<Dispatcher> {
  const identity =
    clientCertificate === undefined
      ? {}
      : { cert: Buffer.from(clientCertificate.cert), key: Buffer.from(clientCertificate.key) };
  const connect = {
    timeout: connectTimeout,
    rejectUnauthorized: kind !== "insecure",
    allowH2: isHttp2,
    ...identity,
  };
  if (proxy !== undefined) {
    const { default: EnvHttpProxyAgent } = await import("undici/lib/dispatcher/env-http-proxy-agent.js");
    const { default: ProxyPool } = await import("undici/lib/dispatcher/pool.js");
    const { default: openTunnel } = await import("undici/lib/api/api-connect.js");
    return new EnvHttpProxyAgent({
      httpsProxy: proxy,
      noProxy,
      connect,
      requestTls: identity,
      clientFactory: (address, options) =>
        proxyClient(new ProxyPool(address, options), address.origin, openTunnel),
      allowH2: isHttp2,
    });
  }
  const { default: Agent } = await import("undici/lib/dispatcher/agent.js");
  if (nodeVersion.startsWith("20.")) await keepParserSimple();
  const { default: buildConnector } = await import("undici/lib/core/connect.js");
  const connector = buildConnector(connect);
  return new Agent({
    allowH2: isHttp2,
    connect: (target, connected) =>
      connector(target, (...result) => {
        if (result[0] === null && !isHttp2) skipContinue(result[1]);
        connected(...result);
      }),
  });
}

/** The connections to a proxy, with failures of their own: undici does not tell them from those of the service. */
function proxyClient(
  pool: Pool,
  name: string,
  openTunnel: (this: Dispatcher, options: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData>,
): Pool {
  const tunnel = async (options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    const answer = await openTunnel.call(pool, options).catch((error: unknown) => {
      throw new ProxyFailed(`the proxy ${name} was not reached: ${systemReason(error)}`, false, error);
    });
    if (answer.statusCode === 200) return answer;
    answer.socket.on("error", () => undefined).destroy();
    throw new ProxyFailed(`the proxy ${name} answered ${answer.statusCode}`, false);
  };
  return Object.assign(pool, { connect: tunnel });
}

/**
 * Node 20 optimizes all of undici's WebAssembly parser as soon as it is compiled: `create` then takes twice as long (startup
 * bench). Set after undici is loaded, because V8 accepts Node's own compiled modules only under the flags they were made with.
 */
async function keepParserSimple(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--liftoff-only");
}

const STATUS_LINE = "HTTP/1.1 100";
const HEAD_END = "\r\n\r\n";
/** A longer interim response is left to undici, which refuses it. */
const LONGEST_HEAD = 4096;

/**
 * Replaces `read` of the socket by one that skips `100 Continue`, which some servers send without being asked: RFC 9110 15.2
 * allows clients to, but undici fails. Looks for it only at the start of a reply.
 */
function skipContinue(socket: Socket): void {
  const read = socket.read.bind(socket);
  let held: Buffer = Buffer.alloc(0);
  /** The bytes of requests that were sent when the current reply began. */
  let repliedTo = -1;
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (!(chunk instanceof Buffer) || repliedTo === socket.bytesWritten) return chunk;
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const rest = withoutContinue(bytes);
    held = rest ?? bytes;
    if (rest === undefined || rest.length === 0) return null;
    held = Buffer.alloc(0);
    repliedTo = socket.bytesWritten;
    return rest;
  };
}

/** Undefined while the bytes may be the start of a `100 Continue`. */
function withoutContinue(bytes: Buffer): Buffer | undefined {
  let rest = bytes;
  for (;;) {
    const start = rest.subarray(0, LONGEST_HEAD).toString("latin1");
    if (rest.length < STATUS_LINE.length && STATUS_LINE.startsWith(start))
      return start === "" ? rest : undefined;
    if (!start.startsWith(STATUS_LINE)) return rest;
    const end = start.indexOf(HEAD_END);
    if (end < 0) return rest.length < LONGEST_HEAD ? undefined : rest;
    rest = rest.subarray(end + HEAD_END.length);
  }
}
