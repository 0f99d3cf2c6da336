/** What each operation of the service is sent, besides its path and query, and what it answers: the types of the schemas in OpenAPI. */
import type { JsonObject } from "../values/json.ts";
import type { OperationName } from "./operations.ts";
import type { PaymentLinkRequest, WellFormedLink } from "./payment-link-shapes.ts";

/** OAuth 2.0 client credentials (RFC 6749 4.4), as a form. */
export interface TokenRequest {
  readonly grant_type: "client_credentials";
  readonly scope: string;
  readonly client_id: string;
  readonly client_secret: string;
}

export interface Token {
  readonly access_token: string;
  readonly token_type: "Bearer";
  /** Seconds. */
  readonly expires_in: number;
  readonly scope: string;
  readonly refresh_token: string;
}

export interface PaymentLinkUpdate {
  readonly description?: string;
  readonly expirationDate: string;
}

interface PaymentLinks {
  readonly totalCount: number;
  readonly records: readonly WellFormedLink[];
}

interface Exchange {
  readonly request: object | undefined;
  readonly reply: object;
}

/** An operation that is missing here does not compile. */
type OfEachOperation<Types extends Readonly<Record<OperationName, Exchange>>> = Types;

export type Exchanges = OfEachOperation<{
  token: { request: TokenRequest; reply: Token };
  create: { request: PaymentLinkRequest; reply: WellFormedLink };
  details: { request: undefined; reply: WellFormedLink };
  list: { request: undefined; reply: PaymentLinks };
  update: { request: PaymentLinkUpdate; reply: WellFormedLink };
  cancel: { request: undefined; reply: WellFormedLink };
  transaction: { request: undefined; reply: JsonObject };
}>;
