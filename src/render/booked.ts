/** Shows what an application has booked of the webhooks of `check`. Each finding is a sentence that names order and cause. */
import { someOf } from "../values/plural.ts";
import type { BookedOrder } from "../check/booked.ts";
import type { OrderUse, PostedPayment } from "../check/endpoint.ts";
import { formatAmount, type Sum } from "../domain/money.ts";
import { isSame } from "../orders/amounts.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";

/** The findings, or that there are none. */
export function renderBooks(orders: readonly BookedOrder[], paint: Paint): string {
  const wrong = orders.filter(({ finding }) => finding !== undefined);
  if (wrong.length === 0) {
    const booked = orders.filter((one) => one.booked.length > 0).length;
    return `${paint.green("✓")} books: ${booked} of ${orders.length} orders are booked, each as it was paid`;
  }
  const kinds = [...new Set(wrong.map(({ finding }) => finding))];
  return kinds
    .flatMap((kind) => {
      const ofKind = wrong.filter(({ finding }) => finding === kind);
      const lines = ofKind
        .slice(0, ORDERS_SHOWN)
        .map((one) => `${paint.red("✗")} books: ${safeText(bookedWords(one))}`);
      const rest = ofKind.length - lines.length;
      return rest === 0
        ? lines
        : [...lines, `    … and ${rest} more like these; --json and --junit name each`];
    })
    .join("\n");
}

/** Orders of one kind of finding that are shown: one mistake is usually made with all of them. */
const ORDERS_SHOWN = 3;

/** What is wrong with an order, as a sentence; empty if nothing is. */
export function bookedWords({ order, uses, booked, finding }: BookedOrder): string {
  const { number } = order;
  const sums = booked.map(money).join(" and ");
  switch (finding) {
    case "twice":
      return `${number} was booked ${timesWords(booked.length)}: ${causeOf(uses.filter(isRepeating), uses)}.`;
    case "not booked":
      return `${number} was paid (${money(order)}), and is not booked: ${causeOf(uses.filter(isPaying), uses)}.`;
    case "not paid": {
      const telling = tellingUses(uses, booked);
      return `${number} asks for ${money(order)}, was not paid, and is booked with ${sums}: ${causeOf(telling, uses)}. ${expectedOf(telling)}`;
    }
    case "differs":
      return `${number} is booked with ${sums}, and ${money(order)} was paid: ${causeOf(tellingUses(uses, booked), uses)}.`;
    case undefined:
      return "";
  }
}

const money = ({ amount, currency }: Sum): string => formatAmount(amount, currency);

const timesWords = (count: number): string => (count === 2 ? "twice" : `${count} times`);

const isPaying = ({ case: { books } }: OrderUse): boolean => books !== "never";
const isRepeating = (use: OrderUse): boolean =>
  isPaying(use) && use.payments.filter(({ pays }) => pays === "all").length > 1;

/** Those that paid just what is booked, and should not have been booked so; else all that should not. */
function tellingUses(uses: readonly OrderUse[], booked: readonly Sum[]): readonly OrderUse[] {
  const wrong = uses.filter((use) => !isPaying(use));
  const same = wrong.filter(({ payments }) =>
    payments.some(({ sum }) => booked.some((line) => isSame([line], [sum]))),
  );
  return same.length > 0 ? same : wrong;
}

const expectedOf = (uses: readonly OrderUse[]): string => {
  const part = uses.flatMap(({ payments }) => payments).find(({ pays }) => pays === "a part");
  return part === undefined
    ? "Nothing must be booked."
    : `Book nothing before the rest is paid, or the part alone, ${money(part.sum)}.`;
};

/** What the endpoint received in the case that probably caused it; of several, the names of the first ones. */
function causeOf(likely: readonly OrderUse[], uses: readonly OrderUse[]): string {
  const named = likely.length === 0 ? uses : likely;
  const [only, ...others] = named;
  if (only === undefined || others.length > 0) return `it was used in the ${caseNames(named)}`;
  const [payment] = only.payments;
  return `the endpoint received ${only.case.description}${payment === undefined ? "" : otherSum(payment, only)}`;
}

/** The sum where it is not that of the order. */
const otherSum = ({ sum }: PostedPayment, { order }: OrderUse): string =>
  isSame([sum], [order]) ? "" : ` (${money(sum)})`;

const CASES_NAMED = 4;

function caseNames(uses: readonly OrderUse[]): string {
  const names = [...new Set(uses.map((use) => use.case.name))];
  return `cases ${someOf(names.slice(0, CASES_NAMED), names.length)}`;
}
