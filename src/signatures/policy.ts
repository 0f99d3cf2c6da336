/** What a signature must fulfil beyond being genuine: a value, fixed by configuration and never by the message. */

import type { Algorithm } from "./algorithms.ts";
import type { Component } from "./components.ts";

export interface Policy {
  /** The one signature of a message that counts. */
  readonly label: string;
  readonly algorithm: Algorithm;
  /** Components to be covered, parameters included, beyond the digest of the content. */
  readonly required: readonly Component[];
  readonly requireCreated: boolean;
  /** Seconds that a signature stays good. */
  readonly maxAge: number;
  /** Seconds by which clocks may differ, either way. */
  readonly skew: number;
  readonly limits: { readonly maxLabels: number; readonly maxComponents: number };
}

export const DEFAULT_POLICY: Policy = {
  label: "sig1",
  algorithm: "rsa-v1_5-sha256",
  required: [],
  requireCreated: false,
  maxAge: 300,
  skew: 60,
  limits: { maxLabels: 8, maxComponents: 64 },
};
