/** What a signature must satisfy besides matching the key: fixed by configuration, never by the message. */

import type { Algorithm } from "./algorithms.ts";
import type { Component } from "./components.ts";

export interface Policy {
  /** The label of the signature that is verified. */
  readonly label: string;
  readonly algorithm: Algorithm;
  /** Components that must be covered besides content-digest, with their parameters. */
  readonly required: readonly Component[];
  readonly requireCreated: boolean;
  /** Seconds that a signature stays valid. */
  readonly maxAge: number;
  /** Seconds by which two clocks may differ. */
  readonly skew: number;
}

export const DEFAULT_POLICY: Policy = {
  label: "sig1",
  algorithm: "rsa-v1_5-sha256",
  required: [],
  requireCreated: false,
  maxAge: 300,
  skew: 60,
};
