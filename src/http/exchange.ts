/** What it means to send a request and to serve one: the two ways to the network, as types that others depend on. */
import type { HttpReply, HttpRequest, RequestHead } from "./message.ts";

export interface SendOptions {
  /** Milliseconds for the whole exchange, from connecting to the last byte of the reply. */
  readonly timeout?: number;
  /** Bytes of body that a reply may have; more is a failed exchange. */
  readonly maxReply?: number;
  /** Takes a self-signed certificate: only ever for a forward target that the user named. */
  readonly insecure?: boolean;
}

/** Sends one request and resolves with its reply, whatever its status; redirects are replies like any other. */
export type Send = (request: HttpRequest, options?: SendOptions) => Promise<HttpReply>;

/** Why no usable reply came. `sent` decides what it means for money: false where the request provably never left. */
export class SendError extends Error {
  readonly sent: boolean;

  constructor(message: string, sent: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = "SendError";
    this.sent = sent;
  }
}

/** The time that the exchange was given has passed. Clocks do not tell: a timer may end a millisecond before its time. */
export class SendTimeout extends SendError {}

/** A reply whose body goes on for as long as somebody listens (server-sent events). */
export interface StreamedReply extends Omit<HttpReply, "body"> {
  readonly body: AsyncIterable<Uint8Array>;
}

export type Handler = (request: HttpRequest) => Promise<HttpReply | StreamedReply>;

/** A request that ended before the handler saw it: refused by the HTTP layer, or by `admit`. */
export interface Refusal {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
}

/** The certificate chain and its private key, as PEM. */
export interface TlsFiles {
  readonly cert: Uint8Array;
  readonly key: Uint8Array;
}

export interface ServeOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Bytes of body that a request may have; more is answered 413. */
  readonly maxBody: number;
  /** Serves https. */
  readonly tls?: TlsFiles | undefined;
  /** Refuses by the head alone, before a byte of the body is read. */
  readonly admit?: (head: RequestHead) => Refusal | undefined;
  /** Hears of each request that was refused, with what is known of it. */
  readonly refused?: (refusal: Refusal, head: RequestHead | undefined) => void;
  /** Hears of a handler that threw; the request was answered 500. */
  readonly faulted?: (error: unknown) => void;
}

export interface Server {
  /** The address in use: scheme, host and port, with a final slash. */
  readonly url: string;
  readonly port: number;
  /** The addresses that `Host` may name: the bound one, or each of the machine's own where all are bound. */
  readonly hosts: readonly string[];
  /** Takes a renewed certificate for the connections to come. Throws where it is none. */
  renewTls(tls: TlsFiles): void;
  /** Stops taking connections and resolves when every request in flight has been answered. */
  close(): Promise<void>;
}

/** Resolves once the address answers, not before. */
export type Serve = (handler: Handler, options: ServeOptions) => Promise<Server>;
