/** The forms in which applications hold a request, by what is read of each: no type of a runtime or framework is named. */

/** A Web `Request`: Hono, Next.js, Bun, Deno, and others. */
export interface WebRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly forEach: (each: (value: string, name: string) => void) => void };
  readonly body: ByteStream | null;
  readonly bodyUsed: boolean;
}

/** What is used of a `ReadableStream` of bytes. */
export interface ByteStream {
  readonly locked: boolean;
  readonly getReader: () => {
    readonly read: () => Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
    readonly cancel: () => Promise<void>;
  };
}

/** A Node `IncomingMessage`, and the requests of Express and others that extend it. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly rawTrailers?: readonly string[] | undefined;
  readonly readableEnded: boolean;
  readonly readableDidRead: boolean;
  readonly destroyed: boolean;
  readonly socket?:
    { readonly localAddress?: string | undefined; readonly localPort?: number | undefined } | undefined;
  readonly on: (event: string, listener: (chunk: Uint8Array | string) => void) => unknown;
  readonly off: (event: string, listener: (chunk: Uint8Array | string) => void) => unknown;
  readonly pause: () => unknown;
}

/** A framework's own request, which has the Web or Node request in `raw`: Fastify, Hono. */
export interface WrappedRequest {
  readonly raw: WebRequest | NodeRequest;
  readonly body?: unknown;
}

/** Header fields as an object, whose values may be lists, or as name and value pairs, or as Web `Headers`. */
export type HeaderFields =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | Iterable<readonly [name: string, value: string]>;

/** A request from anywhere else, by its parts. */
export interface PlainRequest {
  readonly method: string;
  /** The whole address that the service posts to, or the path and query alone. */
  readonly url: string;
  readonly headers: HeaderFields;
  /** The bytes as received, or their text; never a parsed body. */
  readonly body: Uint8Array | ArrayBuffer | string | null | undefined;
}

/** Any request that a webhook can arrive in. */
export type WebhookRequest = WebRequest | NodeRequest | WrappedRequest | PlainRequest;
