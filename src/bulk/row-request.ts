/** From a row to the request that is sent for it, with every problem at the column that the file names. */
import type { Problem } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import type { Row } from "./row.ts";

export interface RowRequest {
  /** Fit to be sent; null where there are problems. */
  readonly request: PaymentLinkRequest | null;
  /** Each at its column, or at the flag whose default is wrong. */
  readonly problems: readonly Problem[];
  /** What is odd about it, named in the same way. */
  readonly warnings: readonly Problem[];
}

/** Fills up what a row gives, by field, with the run's defaults, and checks the whole. */
export type BuildRequest = (now: Date, given: ReadonlyMap<string, Json>) => RowRequest;

export function requestOf(row: Row, build: BuildRequest, now: Date): RowRequest {
  if (row.problems.length > 0) return { request: null, problems: row.problems, warnings: [] };
  const built = build(now, givenBy(row));
  if (built.problems.length === 0 && built.warnings.length === 0) return built;
  const spelled = new Map(row.cells.map(({ column }) => [column.field, column.name]));
  const asSpelled = ({ at, message }: Problem): Problem => ({ at: spelled.get(at) ?? at, message });
  return {
    request: built.request,
    problems: built.problems.map(asSpelled),
    warnings: built.warnings.map(asSpelled),
  };
}

/** What is empty was not given, and leaves room for a default. */
function givenBy({ cells }: Row): Map<string, Json> {
  const given = new Map<string, Json>();
  for (const { column, value } of cells) {
    if (column.field === undefined || value === null) continue;
    if (typeof value === "string" && value.trim() === "") continue;
    given.set(column.field, value);
  }
  return given;
}
