/** Sends HTTP requests over undici, and says for each failure whether the request may have arrived. */
import type { Dispatcher } from "undici";
import { messageOf } from "../domain/errors.ts";
import { codeOf, systemReason } from "../domain/system-reason.ts";
import { createAgents, type AgentParts } from "./agents.ts";
import { ACCEPTED_CODINGS, decodeReply } from "./content-codings.ts";
import { ClosedWithoutAnswer, SendError, SendTimeout, type Send, type SendOptions } from "./exchange.ts";
import { fieldLines, type HeaderLine, type HttpReply, type HttpRequest } from "./message.ts";

const TIMEOUT = 30_000;
const MAX_REPLY = 5 * 1024 * 1024;

export interface Sender {
  readonly send: Send;
  /** Closes every connection, also one that is still being made. */
  close(): Promise<void>;
}

export interface SenderParts extends AgentParts {
  /** Sent with each request that has no `User-Agent` of its own. */
  readonly userAgent: string;
}

export function createSender(parts: SenderParts): Sender {
  const agents = createAgents(parts);
  return {
    send: async (request, options = {}) => {
      const { timeout = TIMEOUT, maxReply = MAX_REPLY, clientCertificate } = options;
      const agent = await agents.agentFor({
        isHttps: request.scheme === "https",
        isInsecure: options.insecure === true,
        timeout,
        clientCertificate,
      });
      const limits = { ...options, timeout, maxReply };
      const reply = await exchange(agent, withDefaults(request, parts.userAgent), limits);
      return decodeReply(reply, maxReply).catch((error: unknown) => {
        throw new SendError(`${originOf(request)} ${messageOf(error)}`, true, error);
      });
    },
    close: agents.close,
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

type Limits = Required<Pick<SendOptions, "timeout" | "maxReply">> &
  Pick<SendOptions, "signal" | "finish" | "clientCertificate">;

/** The codes for a connection that the server closed, by whatever part of Node noticed it. */
const CLOSED = /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|ERR_SSL_\w+_ALERT_CERTIFICATE_REQUIRED)$/;

function exchange(
  agent: Dispatcher,
  request: HttpRequest,
  { timeout, maxReply, signal, finish = false, clientCertificate }: Limits,
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

/** undici gives names and values as one flat list of buffers; latin1 keeps one character an octet. */
function pairs(raw: Dispatcher.DispatchController["rawHeaders"]): HeaderLine[] {
  const lines: HeaderLine[] = [];
  if (!Array.isArray(raw)) return lines;
  const text = raw.map((part) => (typeof part === "string" ? part : part.toString("latin1")));
  for (let index = 0; index + 1 < text.length; index += 2)
    lines.push([text[index] ?? "", text[index + 1] ?? ""]);
  return lines;
}
