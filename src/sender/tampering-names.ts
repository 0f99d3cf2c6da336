/** The names of the tamperings by what they change, for help and completion, which must not load the tamperings. */

export const TAMPERING_NAMES = {
  body: ["body", "body-and-digest"],
  digest: [
    "digest",
    "digest-missing",
    "digest-malformed",
    "digest-algorithm",
    "digest-second",
    "digest-duplicate",
  ],
  signature: ["unsigned", "signature", "signature-missing", "signature-malformed"],
  input: [
    "signature-input-missing",
    "signature-input-malformed",
    "label",
    "label-mismatch",
    "label-duplicate",
  ],
  coverage: ["coverage", "coverage-empty", "coverage-removed", "component-missing"],
  age: ["created", "created-moved", "created-future", "created-type", "expired", "replay"],
  key: ["key", "algorithm", "algorithm-pss", "algorithm-unknown"],
  request: ["method", "target", "content-type", "content-type-duplicate"],
} as const;

export type TamperingName = (typeof TAMPERING_NAMES)[keyof typeof TAMPERING_NAMES][number];
