/** Shows what an application has booked of the webhooks of `check`. Each finding is a sentence that names order and cause. */
import type { BookedOrder } from "../check/booked.ts";
import type { OrderUse } from "../check/endpoint.ts";
import { formatAmount, type Sum } from "../domain/money.ts";
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
const ORDERS_SHOWN = 5;

/** What is wrong with an order, as a sentence; empty if nothing is. */
export function bookedWords({ order, uses, booked, finding }: BookedOrder): string {
  const { number } = order;
  switch (finding) {
    case "twice":
      return `${number} was booked ${times(booked.length)}: ${causeOf(uses, isRepeating)}.`;
    case "not booked":
      return `${number} was paid (${money(order)}), and is not booked: ${causeOf(uses, isPaying)}.`;
    case "not paid":
      return `${number} was not paid, and is booked with ${booked.map(money).join(" and ")}: ${causeOf(uses, () => true)}.`;
    case "differs":
      return `${number} is booked with ${booked.map(money).join(" and ")}, and ${money(order)} was paid: ${causeOf(uses, isNotPaying)}.`;
    case undefined:
      return "";
  }
}

const money = ({ amount, currency }: Sum): string => formatAmount(amount, currency);

const times = (count: number): string => (count === 2 ? "twice" : `${count} times`);

const isPaying = ({ case: { books } }: OrderUse): boolean => books !== "never";
const isNotPaying = (use: OrderUse): boolean => !isPaying(use);
const isRepeating = (use: OrderUse): boolean => isPaying(use) && use.paid.length > 1;

/** What the endpoint received in the case that probably caused it; if several may have, the names of the cases. */
function causeOf(uses: readonly OrderUse[], isLikely: (use: OrderUse) => boolean): string {
  const likely = uses.filter(isLikely);
  const named = likely.length === 0 ? uses : likely;
  const [only, ...others] = named;
  if (only === undefined || others.length > 0)
    return `it was used in the cases ${named.map((use) => use.case.name).join(", ")}`;
  return `the endpoint received ${only.case.description}`;
}
