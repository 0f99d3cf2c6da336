/** The options and results of the library's functions. */
import type { Verdict } from "../signatures/verdict.ts";
import type { TransactionByOutcome, TransactionOutcome } from "./transaction-types.ts";
import type { WebhookRequest } from "./webhook-request.ts";

/** A JSON Web Key, or a set of them in `keys`. */
export interface JsonWebKeyOrSet {
  readonly kty?: string | undefined;
  readonly keys?: readonly unknown[] | undefined;
}

/** A `KeyObject` of `node:crypto`. */
export interface KeyObjectLike {
  readonly type: "public" | "private" | "secret";
  readonly asymmetricKeyType?: string | undefined;
}

/**
 * The text or bytes of a PEM, DER, certificate, JWK or key set; its https URL, which is fetched again when the service
 * changes its keys; the path of its file; or a `KeyObject`.
 */
export type WebhookKey = string | URL | Uint8Array | KeyObjectLike | JsonWebKeyOrSet;

/** Undefined, as an environment variable may be, is an error with the code `key_required`. */
export type WebhookKeys = WebhookKey | readonly WebhookKey[] | undefined;

/** How webhooks are verified. */
export interface VerifierOptions {
  /** The service's public key: PEM, DER, certificate, JWK or key set as text, bytes or object, its URL, or its file. */
  readonly key: WebhookKeys;
  /**
   * The address that the service posts to. Needed only where the signature covers it; headers such as X-Forwarded-Host are
   * never believed. By default it is this server's own address on this machine.
   */
  readonly publicUrl?: string | URL | undefined;
  /** How old a signature may be: seconds, or a duration such as `10m`. By default 5 minutes, plus 60 seconds of skew. */
  readonly tolerance?: number | string | undefined;
  /** Components that must be signed besides content-digest, such as `@method` or `content-type`. */
  readonly require?: readonly string[] | undefined;
  /** Refuses signatures without a `created` time. */
  readonly requireCreated?: boolean | undefined;
  /** The JSON Pointer to the record in the body, where the service wraps it. */
  readonly recordAt?: string | undefined;
  /** The time to verify at, for tests: a Date or Unix seconds, or a function that returns either. */
  readonly now?: Date | number | (() => Date | number) | undefined;
}

/** The exact text of each amount, as the service wrote it: `10.50`. */
export interface ExactAmounts {
  readonly amountTrans: string;
  readonly amountGratuity: string;
  readonly amountCashback: string;
}

/** A webhook that is authentic and whose record keeps the specification; `outcome` says which fields it has. */
export type VerifiedWebhook = {
  readonly [Outcome in TransactionOutcome]: {
    readonly outcome: Outcome;
    readonly transaction: TransactionByOutcome[Outcome];
    readonly amounts: ExactAmounts;
    readonly verdict: Verdict;
    /** The body as received. */
    readonly raw: Uint8Array;
  };
}[TransactionOutcome];

/** Resolves with the verified webhook, or rejects with a WebhookError: then do not act on the request. */
export type Verifier = (request: WebhookRequest) => Promise<VerifiedWebhook>;

/** What to sign with, and for which address. */
export interface SignWebhookOptions {
  /** The private RSA key: PEM, DER or JWK as text, bytes or object, or a `KeyObject`. */
  readonly key: string | Uint8Array | KeyObjectLike | JsonWebKeyOrSet;
  /** The address that the webhook is posted to. */
  readonly url: string | URL;
  /** The signed components, by default those that the service signs. */
  readonly cover?: readonly string[] | undefined;
  /** When it was signed: a Date or Unix seconds. By default now. */
  readonly created?: Date | number | undefined;
  readonly keyid?: string | undefined;
}

/** A webhook as `fetch(url, webhook)`, `new Request(url, webhook)` and `verifyWebhook(webhook, …)` take it. */
export interface SignedWebhook {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}
