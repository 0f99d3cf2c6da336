/** What a signature must satisfy besides matching the key: fixed by configuration, never by the message. */

import type { Component } from "./components.ts";

/** The label of the signature that is made and verified. */
export const LABEL = "sig1";

/** The only algorithm (RFC 9421 3.3.2), and its name in a JWK (RFC 7518 3.1). */
export const ALGORITHM = "rsa-v1_5-sha256";
export const JWK_ALGORITHM = "RS256";

export interface Policy {
  /** Components that must be covered besides content-digest, with their parameters. */
  readonly required: readonly Component[];
  readonly requireCreated: boolean;
  /** Seconds that a signature stays valid. */
  readonly maxAge: number;
  /** Seconds by which two clocks may differ. */
  readonly skew: number;
}

export const DEFAULT_POLICY: Policy = {
  required: [],
  requireCreated: false,
  maxAge: 300,
  skew: 60,
};
