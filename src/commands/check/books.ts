/** Reads what `check --books` prints, and the orders of `check --orders`, with the reader of books that `reconcile` has. */
import { plural, wordFor } from "../../values/plural.ts";
import { arePaying, type BookedOrder, compareBooked, type ExpectedBookings } from "../../check/booked.ts";
import type { CaseResult } from "../../check/endpoint.ts";
import type { SampleOrder } from "../../sender/samples.ts";
import type { Context } from "../../context.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { signOf } from "../../domain/money.ts";
import { readBooks } from "../../reconcile/books.ts";
import type { BookedLine } from "../../reconcile/sides.ts";
import { safeText } from "../../render/safe-text.ts";
import { clip } from "../../render/width.ts";
import type { CheckOptions } from "./command.ts";

/** Milliseconds that the command may take. */
const LONGEST_RUN = 10_000;
/** Milliseconds that an application gets to book after it has answered, and between two checks. */
const SETTLING = 5_000;
const BETWEEN = 250;
/** Characters of what the command printed. */
const SAID_LENGTH = 300;

/** The orders of a file. Throws `file_unreadable`, and `usage` with every problem. */
export async function readOrders(
  { orders: path, map }: Pick<CheckOptions, "orders" | "map">,
  { readFile, signal }: Pick<Context, "readFile" | "signal">,
): Promise<readonly SampleOrder[]> {
  if (path === undefined) return [];
  const bytes = await readFile(path, "--orders");
  const { lines } = await readBooks(bytes, { map, currency: undefined, decimalComma: false, signal }).catch(
    (error: unknown) => {
      if (!(error instanceof PaylinkError) || error.code !== "usage") throw error;
      throw unusableOrders(
        error.problems.map((problem) => ({ ...problem, at: problem.at.replace("--books", "--orders") })),
      );
    },
  );
  const problems: Problem[] = [];
  const numbers = new Set<string>();
  for (const { line, orderNumber, amount, currency: code } of lines) {
    const at = `--orders, line ${line}`;
    if (numbers.has(orderNumber)) problems.push({ at, message: `repeats the order ${orderNumber}` });
    if (signOf(amount) !== 1) problems.push({ at, message: `must have an amount above 0 (got "${amount}")` });
    if (code === undefined) problems.push({ at, message: "must have a currency" });
    numbers.add(orderNumber);
  }
  if (lines.length === 0) problems.push({ at: "--orders", message: "contains no order" });
  if (problems.length > 0) throw unusableOrders(problems);
  return lines.map(({ orderNumber: number, amount, currency: code = "" }) => ({
    number,
    amount,
    currency: code,
  }));
}

const unusableOrders = (problems: readonly Problem[]): PaylinkError =>
  new PaylinkError("usage", "The orders cannot be used. Nothing was checked.", { problems });

type BooksCommand = Pick<CheckOptions, "map"> & { readonly books: string };

/** What is booked now. Throws `usage` if the command fails, or prints what is no list of bookings. */
export async function runBooks(
  { books: command, map }: BooksCommand,
  { runShell, signal }: Pick<Context, "runShell" | "signal">,
): Promise<readonly BookedLine[]> {
  const { failure, stdout, stderr } = await runShell(command, LONGEST_RUN);
  if (failure !== undefined) {
    const said = clip(safeText(stderr.trim().replaceAll(/\s+/g, " ")), SAID_LENGTH);
    throw new PaylinkError(
      "usage",
      `The command of --books failed: ${failure}. What is booked is not known.`,
      {
        hints: [said === "" ? hint`It printed nothing on stderr.` : hint`It printed: ${said}`],
      },
    );
  }
  // Programs that print a header only before rows print nothing where nothing is booked.
  if (stdout.every((byte) => byte === 0x0a || byte === 0x0d || byte === 0x20)) return [];
  return (await readBooks(stdout, { map, currency: undefined, decimalComma: false, signal })).lines;
}

/**
 * Looks at the books as soon as an answer has come, a few times: an application that answers before it stores has not booked the
 * payment then.
 */
export class EarlyLooks {
  /** Payments that were looked up, and those of them that were not booked yet. */
  looked = 0;
  late = 0;

  /** Of one case; a command that fails is tried again at the end. */
  async look(
    { books, map }: Pick<CheckOptions, "books" | "map">,
    { uses }: Pick<CaseResult, "uses">,
    known: Omit<ExpectedBookings, "uses">,
    context: Pick<Context, "runShell" | "signal">,
  ): Promise<void> {
    const isPayment = uses.some((use) => arePaying([use]));
    if (books === undefined || !isPayment || this.looked >= EARLY_LOOKS) return;
    try {
      const lines = await runBooks({ books, map }, context);
      this.looked += 1;
      if (compareBooked({ uses, ...known }, lines).some(({ finding }) => finding === "not booked"))
        this.late += 1;
    } catch (error) {
      asUnread(error);
      this.looked = EARLY_LOOKS;
    }
  }
}

const EARLY_LOOKS = 3;

/** Checks until everything that must be booked is, or until the time for late bookings is over. */
export async function lookAtBooks(
  options: BooksCommand,
  expected: ExpectedBookings,
  context: Pick<Context, "runShell" | "signal" | "timers" | "pause">,
): Promise<readonly BookedOrder[]> {
  const end = context.timers.elapsed() + SETTLING;
  for (;;) {
    const compared = compareBooked(expected, await runBooks(options, context));
    const isWaiting = compared.some(({ finding }) => finding === "not booked");
    if (!isWaiting || context.timers.elapsed() >= end) return compared;
    await context.pause(BETWEEN);
  }
}

/** The orders that are booked already, with a warning: none if the command fails, as one does that works only after the first booking. */
export async function bookedBefore(
  { books, map }: Pick<CheckOptions, "books" | "map">,
  orders: readonly SampleOrder[],
  context: Pick<Context, "runShell" | "signal" | "out">,
): Promise<ReadonlySet<string>> {
  if (books === undefined || orders.length === 0) return new Set();
  const lines = await runBooks({ books, map }, context).catch(asUnread);
  const booked = new Set((lines ?? []).map(({ orderNumber }) => orderNumber));
  const before = new Set(orders.map(({ number }) => number).filter((number) => booked.has(number)));
  if (before.size > 0)
    context.out.warn(
      `${plural(before.size, "order of --orders is", "orders of --orders are")} already booked. ${wordFor(before.size, "Its bookings", "Their bookings")} must not change; whether the first one is right is not checked.`,
    );
  return before;
}

/** Of books that cannot be read; any other failure is thrown. */
function asUnread(error: unknown): undefined {
  if (!(error instanceof PaylinkError) || error.code !== "usage") throw error;
}
