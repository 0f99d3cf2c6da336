/** The types of sending and serving HTTP, for code that gets the network as an argument, and why an exchange fails. */
import { messageOf, codeOf, knownReason, systemReason } from "../values/system-reason.ts";
import type { HttpReply, HttpRequest, RequestHead } from "./message.ts";
import type { Refusal } from "./refusal.ts";

export interface SendOptions {
  /** Milliseconds for the whole exchange, from connecting to the last byte of the reply. */
  readonly timeout?: number;
  /** Bytes of body that a reply may have, as sent and decoded; more is a failed exchange, unless `keep` is less. */
  readonly maxReply?: number;
  /** Bytes of the reply's body that are kept: the rest is read, up to `maxReply`, and dropped. */
  readonly keep?: number;
  /** Accepts a self-signed certificate: only for a forward target that the user named. */
  readonly insecure?: boolean;
  /** Ends the exchange at once, with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Ignores the signal once the request was sent, so that its effect becomes known. */
  readonly finish?: boolean;
  /** Called when the signal fires and is ignored for that reason. */
  readonly awaiting?: (() => void) | undefined;
}

/**
 * Sends one request and resolves with its reply, whatever its status; redirects are replies like any other. The codings of its
 * body are undone.
 */
export type Send = (request: HttpRequest, options?: SendOptions) => Promise<HttpReply>;

/** No usable reply arrived. `sent` decides what it means for the money: false if the request was certainly not sent. */
export class SendError extends Error {
  readonly sent: boolean;

  constructor(message: string, sent: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = "SendError";
    this.sent = sent;
  }
}

/** The exchange took longer than its timeout. It has a class, since the clock cannot tell: a timer may fire early. */
export class SendTimeout extends SendError {}

/** Nothing answers where the sandbox was registered. */
export class SandboxNotRunning extends SendError {}

/** The cause of a `SendError` if the proxy is not reached, or does not connect: it says nothing about the service. */
export class ProxyFailure extends Error {
  /** What the proxy answered; undefined where it was not reached. */
  readonly status: number | undefined;

  constructor(message: string, { status, cause }: { readonly status?: number; readonly cause?: unknown }) {
    super(message, { cause });
    this.status = status;
  }
}

export type Handler = (request: HttpRequest) => Promise<HttpReply>;

/** A handler throws it to close the connection instead of an answer. */
export class CloseConnection extends Error {}

/** The certificate chain and its private key, as PEM. */
export interface TlsFiles {
  readonly cert: Uint8Array;
  readonly key: Uint8Array;
}

export interface ServeOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Bytes of body that a request may have; more is answered 413. */
  readonly maxBody: number;
  /** Serves https. */
  readonly tls?: TlsFiles | undefined;
  /** Bytes that connections and bodies may take; 64 MiB without it. */
  readonly maxHeld?: number;
  /** Refuses a request by its head, before a byte of the body is read. */
  readonly admit?: (head: RequestHead) => Refusal | undefined;
  /** Called for each refused request, with its head if it was read. */
  readonly refused?: (refusal: Refusal, head: RequestHead | undefined) => void;
  /** Called when a handler throws; the request is answered 500. */
  readonly faulted?: (error: unknown) => void;
}

export interface HttpServer {
  /** The address in use: scheme, host and port, with a final slash. */
  readonly url: string;
  readonly port: number;
  /** The addresses that `Host` may name: the bound one, and all of the machine if every address is bound. */
  readonly hosts: readonly string[];
  /** The connections that are open. */
  connections(): Promise<number>;
  /** Uses a renewed certificate for new connections. Throws if it cannot be read. */
  renewTls(tls: TlsFiles): void;
  /** Stops accepting connections and resolves when every open request has been answered. */
  close(): Promise<void>;
}

/** Resolves once the address answers, not before. */
export type Serve = (handler: Handler, options: ServeOptions) => Promise<HttpServer>;

/** Why an exchange failed, in plain words. */
export function exchangeFailure(error: unknown): string {
  if (isOfUnknownAuthority(error)) return certificateReason(error);
  return knownReason(error instanceof Error ? error.cause : undefined) ?? messageOf(error);
}

/** What is wrong with a certificate. */
export const certificateReason = (error: unknown): string =>
  systemReason(error instanceof Error ? error.cause : error);

/** The code that Node or undici gives for a failed exchange, or an empty text. */
export const systemCode = (error: unknown): string =>
  codeOf(error instanceof Error ? error.cause : undefined);

const UNKNOWN_AUTHORITY =
  /^(?:UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)$/;

/** Whether the exchange failed because Node does not know the authority of the certificate. */
export const isOfUnknownAuthority = (error: unknown): boolean => UNKNOWN_AUTHORITY.test(systemCode(error));
