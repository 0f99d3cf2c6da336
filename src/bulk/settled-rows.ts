/** What a row of a list says became of it before it is sent: its customer may have paid, or need not pay. */
import { isLess, signOfCell, type RowMoney } from "../lists/row-money.ts";
import type { PaymentState } from "../lists/column-words.ts";

/** In which column it says so, and what, as the end of a sentence. */
export interface RowClaim {
  readonly column: string;
  readonly says: string;
  /** Less is due than the row asks for: the column may be meant as the amount. */
  readonly isLessDue?: true;
}

/** What each state says; null where the customer is still to pay, or nothing is said of it. */
const CLAIMS: Readonly<Record<PaymentState, string | null>> = {
  paid: "paid",
  part: "paid in part",
  void: "void",
  draft: "a draft",
  refunded: "refunded",
  refundedInPart: "refunded in part",
  open: null,
  failed: null,
  posted: null,
  unclear: "may be paid",
};

/** Undefined for a row that says nothing of the kind. */
export function claimOf(money: RowMoney): RowClaim | undefined {
  const { states, paid, due, out, total } = money;
  const others = [money.kind, money.voidOn].filter((said) => said !== undefined);
  for (const { column, cell, value } of [...states, ...others]) {
    const claim = value === undefined ? null : CLAIMS[value];
    if (claim !== null) return { column, says: value === "unclear" ? `"${cell}", which ${claim}` : claim };
  }
  const asked = total?.value.ok === true ? total.value.value : undefined;
  if (paid !== undefined && paid.value !== false) {
    if (paid.value === true) return { column: paid.column, says: "paid" };
    if (paid.value.ok && signOfCell(paid.value.value) > 0) {
      const isPart = asked !== undefined && isLess(paid.value.value, asked);
      return { column: paid.column, says: isPart ? "paid in part" : "paid" };
    }
  }
  // A column of debits may be the amount that is asked for.
  if (out?.value.ok === true && out.column !== total?.column && signOfCell(out.value.value) !== 0) {
    const isPart = asked !== undefined && isLess(out.value.value, asked);
    return { column: out.column, says: isPart ? "refunded in part" : "refunded" };
  }
  if (due?.value.ok !== true || asked === undefined) return undefined;
  const { column, value } = due;
  // A row that asks for nothing only verifies a card, unless nothing is what is due.
  if (signOfCell(asked) === 0 && column !== total?.column) return undefined;
  if (signOfCell(value.value) <= 0) return { column, says: "that nothing is due" };
  return isLess(value.value, asked)
    ? { column, says: "that less is due than the amount", isLessDue: true }
    : undefined;
}
