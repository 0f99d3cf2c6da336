/** The requests, options and results of the library's functions: no type of a runtime or framework is named. */
import type { Verdict } from "../signatures/verdict.ts";
import type {
  ReceivedTransaction,
  TransactionByOutcome,
  TransactionOutcome,
  UnclearTransaction,
} from "./transaction-types.ts";
import type { RecordViolation } from "./webhook-error.ts";

/** A Web `Request`: Hono, Next.js, React Router, Remix, Bun, Deno, Cloudflare Workers, and others. */
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

/** What is used of a `Readable` of Node. */
export interface NodeStream {
  readonly readableEnded: boolean;
  readonly readableDidRead: boolean;
  readonly destroyed: boolean;
  readonly on: (event: string, listener: (chunk: Uint8Array | string) => void) => unknown;
  readonly off: (event: string, listener: (chunk: Uint8Array | string) => void) => unknown;
  readonly pause: () => unknown;
  readonly resume?: (() => unknown) | undefined;
  /** Of a stream that gives text. */
  readonly readableEncoding?: string | null | undefined;
}

/** What is used of a `Blob`. */
export interface BlobLike {
  readonly size: number;
  readonly arrayBuffer: () => Promise<ArrayBuffer>;
}

/** A Node `IncomingMessage`, the requests of Express, NestJS and others that extend it, and those that adapters make. */
export interface NodeRequest extends NodeStream {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Empty in the requests of serverless-http and serverless-express, which have `headers` alone. */
  readonly rawHeaders?: readonly string[] | undefined;
  readonly headers?: object | undefined;
  readonly socket?:
    | { readonly localAddress?: string | undefined; readonly localPort?: number | undefined }
    | undefined;
}

/** The request of Fastify, which has that of Node in `raw`. */
export interface FastifyRequest {
  /** The request of Node. */
  readonly raw: NodeRequest;
}

/** Values by name, as the events of AWS Lambda have them. */
type EventValues = Readonly<Record<string, string | readonly string[] | undefined>> | null;

/** What every event of a function has, of AWS Lambda or of Netlify. */
interface EventParts {
  /** Of version 1.0, load balancers and Netlify. */
  readonly httpMethod?: string | undefined;
  /** Of version 1.0, load balancers and Netlify. */
  readonly path?: string | undefined;
  /** Of version 2.0. */
  readonly rawPath?: string | undefined;
  /** Of version 2.0. */
  readonly rawQueryString?: string | undefined;
  /** Of Netlify. */
  readonly rawQuery?: string | undefined;
  /** Of version 1.0 and load balancers. */
  readonly queryStringParameters?: EventValues | undefined;
  /** Of version 1.0 and load balancers. */
  readonly multiValueQueryStringParameters?: EventValues | undefined;
  /** The last line of each field in version 1.0, all lines joined in version 2.0. */
  readonly headers?: EventValues | undefined;
  /** Every line of each field, of version 1.0 and of load balancers that are set to it. */
  readonly multiValueHeaders?: EventValues | undefined;
  /** The text, or base64, as it is. */
  readonly body?: string | null | undefined;
  /** Whether the body is in base64. */
  readonly isBase64Encoded?: boolean | undefined;
}

/** An event of AWS Lambda that carries a request: API Gateway 1.0 and 2.0, function URLs, and load balancers. */
export interface LambdaEvent extends EventParts {
  /** Of version 2.0, with the method in `http`; of a load balancer, with `elb`. */
  readonly requestContext: object;
}

/** The event of a function of Netlify, which has no context. */
export interface NetlifyEvent extends EventParts {
  readonly httpMethod: string;
  readonly path: string;
}

/** A request by its parts. */
export interface PlainRequest {
  /** As received: `POST`. */
  readonly method: string;
  /** The full address that the service posts to, or only the path and query. */
  readonly url: string;
  /**
   * The header fields as the service sent them: an object whose values may be lists, name and value pairs, or Web `Headers`. Two
   * values of one field must both be there.
   */
  readonly headers:
    | Readonly<Record<string, string | number | readonly string[] | undefined>>
    | Iterable<readonly [name: string, value: string | readonly string[]]>;
  /** The bytes as received, their text, or a stream, an async iterable or a Blob of them; never a parsed body. */
  readonly body:
    | Uint8Array
    | ArrayBuffer
    | string
    | ByteStream
    | NodeStream
    | AsyncIterable<Uint8Array | string>
    | BlobLike
    | null
    | undefined;
}

/**
 * Any request that a webhook can arrive in, before its body is read: a Web `Request`; a Node `IncomingMessage`, as Express and NestJS
 * have, and Koa in `ctx.req`; the request of Fastify; an event of AWS Lambda or Netlify; or the parts of a request.
 */
export type WebhookRequest =
  | WebRequest
  | NodeRequest
  | FastifyRequest
  | LambdaEvent
  | NetlifyEvent
  | PlainRequest;

/** A JSON Web Key, or a set of them in `keys`. */
export interface JsonWebKeyOrSet {
  /** The type of the key: `RSA`. */
  readonly kty?: string | undefined;
  /** The keys of a set. */
  readonly keys?: readonly unknown[] | undefined;
}

/** A `KeyObject` of `node:crypto`. */
export interface KeyObjectLike {
  /** Of a private key, the public part verifies; a secret is refused. */
  readonly type: "public" | "private" | "secret";
  /** `rsa`, for webhooks of the service. */
  readonly asymmetricKeyType?: string | undefined;
}

/**
 * The text or bytes of a PEM, DER, certificate, JWK or key set; its https URL, which is fetched again when the service
 * changes its keys; the path of its file; a `KeyObject`; or a `CryptoKey`.
 */
export type WebhookKey = string | URL | Uint8Array | KeyObjectLike | JsonWebKeyOrSet;

/** How webhooks are verified. */
export interface VerifierOptions {
  /**
   * The service's public keys: PEM, DER, certificates, JWK or key set as text, bytes or object, their URL, or their file; or a list of
   * them. Each may hold several keys, of which up to eight are tried. Making the verifier throws a TypeError if there is no key, as where
   * an environment variable is not set, and if none can be read or can ever verify a webhook (not RSA, fewer than 2048 bits). What cannot
   * be read beside another key is a warning of the process; meanwhile a webhook that no known key verifies is a WebhookError with the
   * status 503, so that the service sends it again.
   */
  readonly key: WebhookKey | readonly (WebhookKey | undefined)[] | undefined;
  /**
   * The address that the service posts to. Needed only where the signature covers it; headers such as X-Forwarded-Host are
   * never believed. By default it is this server's own address on this machine.
   */
  readonly publicUrl?: string | URL | undefined;
  /** How old a signature may be: seconds, or a duration such as `10m`. By default 5 minutes, plus 60 seconds for clocks that differ. */
  readonly tolerance?: number | string | undefined;
  /** Components that must be signed besides content-digest, such as `@method` or `content-type` (else `coverage_missing`). */
  readonly require?: readonly string[] | undefined;
  /** Refuses signatures without a `created` time (`created_missing`). By default they are accepted with a warning. */
  readonly requireCreated?: boolean | undefined;
  /**
   * Refuses a record that breaks the specification (status 422), and gives each transaction its full type. By default such a
   * webhook, which is authentic, is accepted with its `violations`. Members that the specification does not have are not violations.
   */
  readonly strict?: boolean | undefined;
  /** The time to verify at, for tests: a Date or Unix seconds. */
  readonly now?: Date | number | undefined;
}

/** One amount of a record, without binary floating point. */
export interface ExactAmount {
  /** As the service wrote it, such as `10.50`; undefined where the record has no number or text there. */
  readonly text: string | undefined;
  /** The record's transCurrencyCode in upper case; undefined where that is not three letters. */
  readonly currency: string | undefined;
  /**
   * The amount in the smallest unit of its currency, such as 1050n for EUR 10.50, to compare with the order. Undefined where
   * it cannot be determined: the text is not a number, ISO 4217 does not have the currency, or there is a part of a unit.
   */
  readonly minorUnits: bigint | undefined;
}

/** The amounts of a record. */
export interface ExactAmounts {
  /** What was paid. */
  readonly amountTrans: ExactAmount;
  /** The gratuity. */
  readonly amountGratuity: ExactAmount;
  /** The cash paid out. */
  readonly amountCashback: ExactAmount;
}

interface WebhookOf<Outcome, Fields> {
  /** What became of the payment. PARTIALLY_APPROVED does not pay the order. */
  readonly outcome: Outcome;
  /** The fields of the specification. What is missing or has another type is undefined, and in `violations`. */
  readonly transaction: Fields;
  /** The amounts as exact texts and in minor units, to compare with the order. */
  readonly amounts: ExactAmounts;
  /** What in the record breaks the specification; empty with `strict`. */
  readonly violations: readonly RecordViolation[];
  /** The checks made, and the warnings, which refuse nothing. */
  readonly verdict: Verdict;
  /** The body as received. */
  readonly raw: Uint8Array;
  /**
   * The whole record as parsed, with the members that the specification does not have. Null where the body has none; then
   * the outcome is UNCLEAR.
   */
  readonly record: Readonly<Record<string, unknown>> | null;
}

/** An authentic webhook; `outcome` says what its transaction has. */
export type VerifiedWebhook =
  | {
      readonly [Outcome in TransactionOutcome]: WebhookOf<
        Outcome,
        ReceivedTransaction<TransactionByOutcome[Outcome]>
      >;
    }[TransactionOutcome]
  | WebhookOf<"UNCLEAR", UnclearTransaction>;

/** An authentic webhook whose record keeps the specification. */
export type StrictWebhook = {
  readonly [Outcome in TransactionOutcome]: WebhookOf<Outcome, TransactionByOutcome[Outcome]>;
}[TransactionOutcome];

/**
 * Resolves with the verified webhook. Rejects with a WebhookError if the request must not be acted on: answer with its `status`.
 * Rejects with a TypeError for anything that is not a request.
 */
export type Verifier = (request: WebhookRequest) => Promise<VerifiedWebhook>;

/** A verifier that refuses a record that breaks the specification. */
export type StrictVerifier = (request: WebhookRequest) => Promise<StrictWebhook>;

/** What to sign with, and for which address. */
export interface SignWebhookOptions {
  /** The private RSA key: PEM, DER or JWK as text, bytes or object, or a `KeyObject`. */
  readonly key: string | Uint8Array | KeyObjectLike | JsonWebKeyOrSet;
  /** The address that the webhook is posted to. */
  readonly url: string | URL;
  /** The components to sign, such as `@method`; by default those that the service signs: header fields only. */
  readonly cover?: readonly string[] | undefined;
  /** When it was signed: a Date or Unix seconds. By default now. */
  readonly created?: Date | number | undefined;
  /** The id of the key, which the signature names. By default that of a JWK, and otherwise none. */
  readonly keyid?: string | undefined;
}

/** A webhook as `fetch(url, webhook)`, `new Request(url, webhook)` and a verifier take it. */
export interface SignedWebhook {
  /** POST. */
  readonly method: string;
  /** The address that it is posted to. */
  readonly url: string;
  /** The header fields, with the digest and the signature. */
  readonly headers: Record<string, string>;
  /** The JSON text of the record. */
  readonly body: string;
}
