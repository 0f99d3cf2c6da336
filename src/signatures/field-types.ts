/** HTTP fields by name: which are Structured Fields, and which may appear only once. */

export type StructuredType = "dictionary" | "list" | "item";
export type FieldTypes = ReadonlyMap<string, StructuredType>;

/** Fields whose registration names a structured type: `sf` and `key` need one (RFC 9421 2.1.1, 2.1.2). */
export const REGISTERED_TYPES: FieldTypes = new Map<string, StructuredType>([
  ["accept-ch", "list"],
  ["accept-signature", "dictionary"],
  ["cache-status", "list"],
  ["capsule-protocol", "item"],
  ["cdn-cache-control", "dictionary"],
  ["client-cert", "item"],
  ["client-cert-chain", "list"],
  ["content-digest", "dictionary"],
  ["cross-origin-embedder-policy", "item"],
  ["cross-origin-opener-policy", "item"],
  ["deprecation", "item"],
  ["incremental", "item"],
  ["origin-agent-cluster", "item"],
  ["permissions-policy", "dictionary"],
  ["priority", "dictionary"],
  ["proxy-status", "list"],
  ["reporting-endpoints", "dictionary"],
  ["repr-digest", "dictionary"],
  ["signature", "dictionary"],
  ["signature-input", "dictionary"],
  ["want-content-digest", "dictionary"],
  ["want-repr-digest", "dictionary"],
]);

/** Fields that a message may carry only once (RFC 9110 5.3): neither joining lines nor picking one is correct. */
export const SINGLETON_FIELDS: ReadonlySet<string> = new Set([
  "age",
  "authorization",
  "content-length",
  "content-location",
  "content-range",
  "content-type",
  "date",
  "etag",
  "expires",
  "from",
  "host",
  "if-modified-since",
  "if-range",
  "if-unmodified-since",
  "last-modified",
  "location",
  "max-forwards",
  "proxy-authorization",
  "referer",
  "retry-after",
  "server",
  "user-agent",
]);
