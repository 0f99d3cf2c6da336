/** What keeps a list from being sent, in words that name the rows. */
import { plural, wordFor, formatCount } from "../../values/plural.ts";
import type { CheckedRow } from "../../bulk/read.ts";
import { grouped } from "../../values/groups.ts";
import { linkWords } from "../../bulk/outcome.ts";
import { isEnded, isHeldUp } from "../../bulk/plan.ts";
import { knownPart } from "../../bulk/row.ts";
import { cellText } from "../../lists/cells.ts";
import { mapAdvice } from "../../lists/columns.ts";
import { RowProblems } from "../../lists/row-problems.ts";
import type { Context } from "../../context.ts";
import { comparableText } from "../../values/comparable-text.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { hint, type CommandLine, type Hint } from "../../domain/hint.ts";
import { renderRowProblem } from "../../render/bulk.ts";
import { safeText, visibleText } from "../../render/safe-text.ts";
import type { Attempt } from "../../store/sent-rows.ts";
import type { BulkOptions } from "./command.ts";
import type { PreparedList } from "./list.ts";
import { MOST_NAMED_ROWS, rowsOfKind, type RowsOfKind } from "./named-rows.ts";
import { rerun } from "./rerun.ts";

/** What keeps a list from being sent, in the words of an error. */
interface ListRefusal {
  readonly message: string;
  readonly problems?: readonly Problem[];
  readonly hint: Hint;
}

/** Names every row that cannot be sent; undefined if the others may be sent. */
export function listRefusal(
  context: Context,
  list: PreparedList,
  { skipInvalid, again }: BulkOptions,
): PaylinkError | undefined {
  const { out } = context;
  const { checked, planned, counts } = list;
  const { invalid, rows } = counts;
  const found = new RowProblems();
  for (const [at, row] of checked.rows.entries())
    if (planned[at]?.state === "invalid") found.add(row.row, row.problems);
  for (const problem of found.list()) out.note(`  ${renderRowProblem(problem)}`);
  if (found.others > 0) out.note(`  and ${formatCount(found.others)} more`);
  const refusals: ListRefusal[] = [];
  if (invalid > 0 && !skipInvalid)
    refusals.push({
      message: `${plural(invalid, "row")} of ${formatCount(rows)} cannot be sent.`,
      hint: hint`Fix the rows named above, or send the others: ${rerun(context, "--skip-invalid")}`,
    });
  // Otherwise links would be made in another currency than the list says.
  for (const name of checked.currencies)
    refusals.push({
      message: `The column ${safeText(name)} is not sent, and looks like the currency.`,
      hint: [mapAdvice(name, "currency")],
    });
  const twice = checked.rows.filter((_, at) => planned[at]?.state === "twice");
  if (twice.length > 0) refusals.push(repetitions(twice, rerun(context, "--allow-duplicates")));
  const misplaced = rowsOfKind(list, ({ state }) => state === "misplaced");
  if (misplaced.count > 0) refusals.push(misplacements(misplaced));
  const respelled = rowsOfKind(list, ({ state }) => state === "respelled");
  if (respelled.count > 0) refusals.push(respellings(respelled, rerun(context, "--allow-duplicates")));
  const changed = rowsOfKind(list, (row) => isHeldUp(row, again));
  if (changed.count > 0) refusals.push(changes(changed, rerun(context, "--again", "changed")));
  if (refusals.length === 0) return undefined;
  const message = [...refusals.map((refusal) => refusal.message), "Nothing was sent."].join(" ");
  return new PaylinkError("usage", message, {
    problems: refusals.flatMap(({ problems = [] }) => problems),
    hints: refusals.map((refusal) => refusal.hint),
    details: {
      rows,
      invalid,
      misplaced: misplaced.count,
      respelled: respelled.count,
      changed: changed.count,
    },
  });
}

const CORRECT_ORDER = hint`Write their order numbers as they were. If a row is another order, empty its cells id, url and status.`;

function repetitions(twice: readonly CheckedRow[], sendAll: CommandLine): ListRefusal {
  const problems = [...grouped(twice, ({ identity }) => identity?.key ?? "").values()]
    .slice(0, MOST_NAMED_ROWS)
    .map((group) => {
      const lines = group.slice(0, MOST_NAMED_ROWS).map(({ row }) => row.line);
      const at = `lines ${lines.slice(0, -1).join(", ")} and ${lines.at(-1)}`;
      const spelled = [...new Set(group.map(({ identity }) => safeText(identity?.orderNumber ?? "")))];
      const [first] = group;
      if (spelled.length > 1)
        return { at, message: `have one order number in several spellings: ${spelled.join(", ")}` };
      const isSame = group.every(({ identity }) => identity?.content === first?.identity?.content);
      return isSame
        ? { at, message: `ask for the same payment${invisibleDifference(group)}` }
        : { at, message: `have the order number ${spelled[0]}, and ask for different payments` };
    });
  // Two rows with one order number would be two links for one order.
  const isOfOrders = twice.some(({ identity }) => (identity?.orderNumber ?? "") !== "");
  return {
    message: "Some rows repeat others.",
    problems,
    hint: isOfOrders
      ? hint`Remove the rows that are there by mistake, or give each its own order number: two links of one order can both be paid.`
      : hint`Remove the rows that are there by mistake, or send each of them once: ${sendAll}`,
  };
}

/** Two rows that look the same differ in nothing else: which spellings they have, with all characters. */
function invisibleDifference([first, ...others]: readonly CheckedRow[]): string {
  for (const { row } of others)
    for (const [place, { field, name }] of row.columns.entries()) {
      const [one, other] = [first?.row, row].map((of) => cellText(of?.values[place] ?? null));
      if (field === undefined || one === undefined || other === undefined || one === other) continue;
      if (comparableText(one) === comparableText(other))
        return `, and differ only in what cannot be seen: ${safeText(name)} is "${visibleText(one)}" and "${visibleText(other)}"`;
    }
  return "";
}

/** Rows whose results name the link of another row: taking that link for theirs would leave them unsent. */
function misplacements({ count, named, limit }: RowsOfKind): ListRefusal {
  const problems = named.map(({ line, identity, link: { id, url, status, orderNumber: whoseOrder } }) => {
    const { orderNumber } = identity;
    const link = safeText(url ?? id ?? "");
    const row =
      orderNumber === "" ? "the row has no order number" : `the row is order ${safeText(orderNumber)}`;
    const whose =
      status === undefined || whoseOrder === ""
        ? "and another row has it too"
        : `which belongs to order ${safeText(whoseOrder)}`;
    return { at: line, message: `${row}, and has the link ${link}, ${whose}` };
  });
  return {
    message: `${plural(count, "row")} ${wordFor(count, "names the link", "name the links")} of other rows.${limit}`,
    problems,
    hint: CORRECT_ORDER,
  };
}

/** Rows whose order number a spreadsheet seems to have changed: they were sent before, and would be sent again. */
function respellings({ count, named, limit }: RowsOfKind, sendAll: CommandLine): ListRefusal {
  const problems = named.map(({ line, identity, link }) => ({
    at: line,
    message: `has the order number ${safeText(identity.orderNumber)}, and ${safeText(link.orderNumber)} was sent before`,
  }));
  return {
    message: `${plural(count, "row")} ${wordFor(count, "has an order number that was", "have order numbers that were")} sent before in another spelling.${limit}`,
    problems,
    hint: hint`A spreadsheet changes numbers: write them as they were sent, in a column formatted as text. If they are other orders: ${sendAll}`,
  };
}

/** Rows that were sent with other values: the customer would get a second link for one order. */
function changes({ count, named, limit }: RowsOfKind, sendChanged: CommandLine): ListRefusal {
  const problems = named.map(({ line, identity, link, others }) => {
    const { orderNumber, payment } = identity;
    const order = orderNumber === "" ? "" : `${safeText(orderNumber)}: `;
    const was = knownPart(link.payment ?? "");
    return { at: line, message: `${order}${payment}, was ${was}. ${linkOfChange(link, others)}` };
  });
  return {
    message: `${plural(count, "row")} ${wordFor(count, "was", "were")} sent before with another amount, currency, kind or transaction type.${limit}`,
    problems,
    hint: hint`To cancel all links of these orders that can still be paid, and send the rows as they are now: ${sendChanged}`,
  };
}

function linkOfChange(link: Attempt, others: readonly Attempt[]): string {
  const { id, url, status } = link;
  const named = safeText(url ?? id ?? "");
  if (isEnded(link)) return `Its link ${named} is ${status}: this customer has no link that can be paid`;
  const state = status === undefined ? "" : ` (${status})`;
  const more =
    others.length === 0 ? "" : `, and can be paid with ${others.map(linkWords).map(safeText).join(", ")} too`;
  return `It has the link ${named}${state}${more}`;
}
