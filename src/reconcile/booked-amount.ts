/** What a line of the books says was paid, from its state and its columns of money: a signed amount, or that nothing was. */
import { compareAmounts, signOf, Sums } from "../domain/money.ts";
import type { Problem } from "../domain/errors.ts";
import { mapFlag } from "../lists/columns.ts";
import { negated } from "../orders/amounts.ts";
import { NOT_PAID, type RowMoney, type Said } from "../lists/row-money.ts";
import type { PaymentState } from "../lists/column-words.ts";

/** A decimal, negative for money that went back. */
export type CountedAmount =
  | { readonly counts: "amount"; readonly amount: string; readonly isRefund?: true }
  /** The customer has not paid: open, void, a draft, failed. */
  | { readonly counts: "nothing" }
  /** The line has no amount. */
  | { readonly counts: "unknown" };

/** Or why its columns do not decide it, at one of them. */
export type Decision = CountedAmount | Problem;

const bookedAmountOf = (amount: string) => ({ counts: "amount", amount }) as const;
const NOTHING_PAID: CountedAmount = { counts: "nothing" };
const NO_AMOUNT: CountedAmount = { counts: "unknown" };

const minus = (one: string, other: string): string => {
  const sums = new Sums();
  for (const amount of [one, negated(other)]) sums.add(amount, "");
  return sums.list()[0]?.amount ?? one;
};

const absolute = (amount: string): string => amount.replace(/^-/, "");

/** What a cell says in words, for a message. */
const saying = ({ column, cell }: Said<unknown>): string => `${column} says "${cell}"`;

export function countedIn(money: RowMoney): Decision {
  for (const said of [money.total, money.due, money.in, money.out, money.paid]) {
    if (said === undefined || typeof said.value === "boolean" || said.value.ok) continue;
    const { message } = said.value;
    const wayOut = said === money.total ? "" : `. To leave the column out: ${mapFlag(said.column, "")}`;
    return { at: said.column, message: `${message} (got "${said.cell}")${wayOut}`, kind: message };
  }
  const { total, in: came, out: went } = money;
  const whole = wholeOf(money) ?? "0";
  if (money.hasIn && total !== undefined && signOf(valueOf(total) ?? "0") < 0 && signOf(whole) > 0)
    return contradiction(came ?? went, total);
  const state = bookedState(money);
  return typeof state === "string" ? BY_STATE[state](money) : state;
}

/** A reason that names a column, and how to leave that out. */
const undecided = ({ column }: Said<unknown>, kind: string, detail: string): Problem => ({
  at: column,
  message: `${kind}: ${detail}. To leave the column out: ${mapFlag(column, "")}`,
  kind,
});

const countsNothing = ({ value }: Said<PaymentState | undefined>): boolean => NOT_PAID.has(value);

/** Of several columns, the one that says something of the payment. */
function bookedState({ states, kind, voidOn, out, due }: RowMoney): PaymentState | Problem {
  const unknown = states.find(({ value }) => value === undefined);
  if (unknown !== undefined) return undecided(unknown, "has an unknown state", `"${unknown.cell}"`);
  const telling = states.filter(({ value }) => value !== "posted");
  // A draft is not paid either: of several such states, none is a contradiction.
  const [first, ...others] = telling.every(countsNothing) ? telling.slice(0, 1) : telling;
  const another = others.find(({ value }) => value !== first?.value);
  if (first !== undefined && another !== undefined) return contradiction(first, another);
  const isUnclear = first?.value === "unclear";
  // What is open of it says the same more clearly.
  if (isUnclear && valueOf(due) === undefined)
    return undecided(first, "may be paid or not", `"${first.cell}"`);
  // What became of an order that was cancelled later is said better by its state, or by what went back.
  const said = isUnclear ? undefined : first?.value;
  const state = said ?? (voidOn === undefined || out !== undefined ? "posted" : "void");
  return kind !== undefined && (state === "paid" || state === "posted") ? kind.value : state;
}

const contradiction = (one: Said<unknown> | undefined, other: Said<unknown>): Problem =>
  undecided(
    other,
    "contradicts another column",
    [one, other].flatMap((said) => (said === undefined ? [] : saying(said))).join(", and "),
  );

const stateCell = ({ states }: RowMoney): Said<unknown> | undefined =>
  states.find(({ value }) => value !== "posted");

/** The amount of the column of what was paid; undefined where it has none. */
const paidAmount = ({ paid }: RowMoney): string | undefined =>
  paid !== undefined && typeof paid.value !== "boolean" && paid.value.ok
    ? paid.value.value.amount
    : undefined;

const valueOf = (said: RowMoney["total"]): string | undefined =>
  said?.value.ok === true ? said.value.value.amount : undefined;

/** What the line is about, whether it is paid or not; undefined without an amount. */
function wholeOf({ total, in: moneyIn, out, side, hasIn }: RowMoney): string | undefined {
  const [all, came, went] = [valueOf(total), valueOf(moneyIn), valueOf(out)];
  if (hasIn && (came ?? went) !== undefined) return minus(came ?? "0", absolute(went ?? "0"));
  if (all === undefined) return went === undefined ? undefined : negated(absolute(went));
  const signed = side?.value === "out" ? negated(absolute(all)) : all;
  return went === undefined ? signed : minus(signed, absolute(went));
}

const counted = (amount: string | undefined): CountedAmount =>
  amount === undefined ? NO_AMOUNT : bookedAmountOf(amount);

const hasNotPaid = (money: RowMoney): Decision => {
  const amount = paidAmount(money);
  if (
    money.paid !== undefined &&
    (money.paid.value === true || (amount !== undefined && signOf(amount) !== 0))
  )
    return contradiction(stateCell(money), money.paid);
  return NOTHING_PAID;
};

const undecidedPart = (money: RowMoney, message: string): Problem => ({
  at: stateCell(money)?.column ?? "",
  message,
});

const BY_STATE: Readonly<Record<PaymentState, (money: RowMoney) => Decision>> = {
  paid: (money) => {
    const { paid, due } = money;
    const [amount, open] = [paidAmount(money), valueOf(due)];
    if (paid !== undefined && (paid.value === false || (amount !== undefined && signOf(amount) === 0)))
      return contradiction(stateCell(money), paid);
    if (due !== undefined && open !== undefined && signOf(open) > 0)
      return contradiction(stateCell(money), due);
    return counted(amount ?? wholeOf(money));
  },
  part: (money) => {
    const [amount, open, whole] = [paidAmount(money), valueOf(money.due), wholeOf(money)];
    if (amount !== undefined) return bookedAmountOf(amount);
    if (open !== undefined && whole !== undefined) return bookedAmountOf(minus(whole, open));
    return undecidedPart(money, "is paid in part, and no column says how much");
  },
  // Programs call an invoice open until all of it is paid.
  open: (money) => {
    const [amount, whole] = [paidAmount(money), wholeOf(money)];
    const isPart = amount !== undefined && signOf(amount) > 0 && whole !== undefined;
    return isPart && compareAmounts(amount, whole) < 0 ? bookedAmountOf(amount) : hasNotPaid(money);
  },
  void: hasNotPaid,
  draft: hasNotPaid,
  failed: hasNotPaid,
  refunded: (money) => {
    const whole = money.hasIn
      ? wholeOf(money)
      : (wholeOf({ ...money, out: undefined }) ?? valueOf(money.out));
    if (whole === undefined) return NO_AMOUNT;
    // Below 0 it is what went back, and its payment is another line.
    const refund = bookedAmountOf(negated(absolute(whole)));
    return signOf(whole) > 0 ? { ...refund, isRefund: true } : refund;
  },
  posted: (money) => {
    const { paid, due } = money;
    const [amount, open, whole] = [paidAmount(money), valueOf(due), wholeOf(money)];
    if (amount !== undefined) return signOf(amount) === 0 ? NOTHING_PAID : bookedAmountOf(amount);
    if (paid?.value === false) return NOTHING_PAID;
    if (paid === undefined && open !== undefined && whole !== undefined) {
      const rest = minus(whole, open);
      return signOf(rest) === 0 ? NOTHING_PAID : bookedAmountOf(rest);
    }
    return counted(whole);
  },
  refundedInPart: (money) =>
    money.out === undefined
      ? undecidedPart(money, "is refunded in part, and no column says how much")
      : counted(wholeOf(money)),
  unclear: () => NO_AMOUNT,
};
