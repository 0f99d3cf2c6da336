/** The columns of a list of links: which field of the request each stands for, however its header is written. */
import { requestFields } from "../domain/payment-link.ts";

export interface Column {
  /** As the file spells it. */
  readonly name: string;
  /** The request's field (`linkOptions.mode`); undefined for a column of the merchant's own, which is never sent. */
  readonly field: string | undefined;
}

const FIELD_OF = new Map(requestFields().map((field) => [plain(field), field]));

/** Headers are forgiven their case, spaces, hyphens and underscores: `Customer Name` is `customerName`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, "");
}

export function columnOf(name: string): Column {
  return { name, field: FIELD_OF.get(plain(name)) };
}

/** Fields that more than one column claims: which of them counts is nobody's to guess. */
export function claimedTwice(columns: readonly Column[]): string[] {
  const claims = columns.flatMap(({ field }) => field ?? []);
  return [...new Set(claims.filter((field, index) => claims.indexOf(field) !== index))];
}
