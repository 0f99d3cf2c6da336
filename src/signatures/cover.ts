/** How a webhook is signed: what the signature covers, and whether it contains the time of signing. */

/** The derived components of a request that need no parameter (RFC 9421 2.2). */
export const DERIVED_NAMES = [
  "@method",
  "@target-uri",
  "@authority",
  "@scheme",
  "@request-target",
  "@path",
  "@query",
] as const;
export type DerivedName = (typeof DERIVED_NAMES)[number];

/** What a signature of a webhook can cover: its headers and these derived components. */
export const COMPONENT_NAMES = [
  "content-digest",
  "content-length",
  "content-type",
  "accept",
  "host",
  ...DERIVED_NAMES,
] as const;
export type ComponentName = (typeof COMPONENT_NAMES)[number];

/** In the order in which they are signed. */
export type CoveredComponents = readonly ComponentName[];

/** The real service signs header fields only. */
export const SERVICE_COVER: CoveredComponents = ["content-digest", "content-length", "content-type"];

/** What other services sign: the request line too. */
export const DERIVED_COVER: CoveredComponents = ["@method", "@target-uri", "content-digest", "content-type"];

export interface SignatureForm {
  readonly cover: CoveredComponents;
  /** Whether the signature has the parameter `created`. */
  readonly created: boolean;
}

export const SERVICE_FORM: SignatureForm = { cover: SERVICE_COVER, created: true };
