/** Rows of a list that are named one by one: those of a kind, the first of them with their lines and order numbers. */
import type { CheckedRow } from "../../bulk/read.ts";
import type { PlannedRow } from "../../bulk/plan.ts";
import type { RowIdentity } from "../../bulk/row.ts";
import { safeText } from "../../render/safe-text.ts";
import type { Attempt } from "../../store/sent-rows.ts";
import type { PreparedList } from "./list.ts";

/** Further rows are counted. */
export const MOST_NAMED_ROWS = 10;

/** `line 3, A-1` */
export const rowName = ({ row, identity }: CheckedRow): string =>
  [`line ${row.line}`, safeText(identity?.orderNumber ?? "")].filter(Boolean).join(", ");

/** A row that was sent before, and what counts of that. */
export interface RowSentBefore {
  readonly line: string;
  readonly identity: RowIdentity;
  readonly link: Attempt;
  readonly others: readonly Attempt[];
}

export interface RowsOfKind {
  readonly count: number;
  readonly named: readonly RowSentBefore[];
  /** That not all of them are named, as a sentence. */
  readonly limit: string;
}

export function rowsOfKind(
  { checked: { rows }, planned }: Pick<PreparedList, "checked" | "planned">,
  is: (row: PlannedRow) => boolean,
): RowsOfKind {
  const places = planned.flatMap((row, at) => (is(row) ? [at] : []));
  const named = places.slice(0, MOST_NAMED_ROWS).flatMap((at): RowSentBefore[] => {
    const [row, { link, others = [] } = {}] = [rows[at], planned[at]];
    if (row?.identity === undefined || link === undefined) return [];
    return [{ line: `line ${row.row.line}`, identity: row.identity, link, others }];
  });
  const limit = places.length > MOST_NAMED_ROWS ? ` ${MOST_NAMED_ROWS} of them are named.` : "";
  return { count: places.length, named, limit };
}
