/** Builds the request of a row, with every problem at its column. */
import type { Problem } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import type { Row } from "./row.ts";
import { digestOf, NO_DIGEST } from "./row-digest.ts";

interface Built {
  /** Ready to send; null if there are problems. */
  readonly request: PaymentLinkRequest | null;
  /** Each at its column, or at the flag with a wrong default. */
  readonly problems: readonly Problem[];
  /** Each at its place, as above. */
  readonly warnings: () => readonly Problem[];
}

export interface RowRequest extends Built {
  readonly digest: number;
}

/** Completes the fields of a row with the defaults of the run, and checks the request. */
export type BuildRequest = (
  now: Date,
  given: ReadonlyMap<string, Json>,
) => Built & { readonly draft: JsonObject };

export function requestOf(row: Row, build: BuildRequest, now: Date): RowRequest {
  if (row.problems.length > 0)
    return { request: null, problems: row.problems, warnings: () => [], digest: NO_DIGEST };
  const { request, problems, warnings, draft } = build(now, fieldsOf(row));
  return {
    request,
    problems: atColumns(row, problems),
    warnings: () => atColumns(row, warnings()),
    digest: digestOf(draft),
  };
}

const atColumns = ({ cells }: Row, problems: readonly Problem[]): Problem[] =>
  problems.map(({ at, message }) => ({
    at: cells.find(({ column }) => column.field === at)?.column.name ?? at,
    message,
  }));

/** The fields of the row. Empty cells are left out, so that defaults apply. */
function fieldsOf({ cells }: Row): Map<string, Json> {
  const given = new Map<string, Json>();
  for (const { column, value } of cells) {
    if (column.field === undefined || value === null) continue;
    if (typeof value === "string" && value.trim() === "") continue;
    given.set(column.field, value);
  }
  return given;
}
