/** The error replies of the document, by status. */
import type { Edition } from "./editions.ts";
import { PROBLEM_EXAMPLES } from "./examples.ts";
import type { JsonSchema } from "./field-notes.ts";
import { schemaRef } from "./schemas.ts";

/** The name of the component that describes a status. */
const COMPONENTS = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  422: "Unprocessable",
  503: "Unavailable",
  default: "Other",
} as const;
export type ErrorStatus = Exclude<keyof typeof COMPONENTS, 503 | "default">;

/** The errors of an operation: its own, and those of every operation. */
export function errors(...statuses: readonly ErrorStatus[]): JsonSchema {
  const all = [...statuses, 503, "default"] as const;
  return Object.fromEntries(
    all.map((status) => [status, { $ref: `#/components/responses/${COMPONENTS[status]}` }]),
  );
}

export function errorResponses({ sandbox }: Edition): JsonSchema {
  const body = (status?: ErrorStatus): JsonSchema => {
    if (!sandbox) return { "application/json": { schema: schemaRef("Error") } };
    const example = status === undefined ? {} : { example: PROBLEM_EXAMPLES[status].details() };
    return { "application/problem+json": { schema: schemaRef("Problem"), ...example } };
  };
  return {
    BadRequest: { description: "The request is malformed or breaks a rule of a field.", content: body(400) },
    Unauthorized: {
      description: "The access token is missing, unknown or expired.",
      headers: sandbox ? { "WWW-Authenticate": header("How to authenticate.") } : {},
      content: body(401),
    },
    Forbidden: {
      description: "Not permitted, for example because the terminal is not the client's.",
      content: body(403),
    },
    NotFound: { description: "The id is unknown.", content: body(404) },
    Unprocessable: { description: "The status of the link does not allow it.", content: body(422) },
    Unavailable: {
      description: sandbox ? "Too many requests at once; without a body." : "Maintenance.",
      headers: { "Retry-After": { ...header("Seconds to wait."), required: false } },
    },
    Other: {
      description: "Any other error. The reply has no body if the request was refused before it was read.",
      content: body(),
    },
  };
}

export const header = (description: string): JsonSchema => ({
  description,
  required: true,
  schema: { type: "string" },
});
