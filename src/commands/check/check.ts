/** Checks a merchant's own endpoint, and reports for each case whether the answer was right. */
import { plural } from "../../values/plural.ts";
import type { BookedFinding, BookedOrder, ExpectedBookings } from "../../check/booked.ts";
import { loadSigningKey } from "../../sender/signing-key.ts";
import { caseCount, type CaseResult, type Ended, runChecks } from "../../check/endpoint.ts";
import { ENOUGH_ORDERS } from "../../check/orders.ts";
import type { SampleOrder } from "../../sender/samples.ts";
import type { Context } from "../../context.ts";
import { isLoopback } from "../../values/addresses.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint, type Hint, paylink } from "../../domain/hint.ts";
import { bookedWords, renderBooks } from "../../render/booked.ts";
import {
  commonCause,
  isNoneTaken,
  listed,
  renderCases,
  renderJunit,
  wrongAnswerWords,
} from "../../render/check-report.ts";
import { samplesKey } from "../../render/likely-cause.ts";
import { renderBar } from "../../render/layout.ts";
import { endpointNotReached } from "../unreached-endpoint.ts";
import { bookedBefore, EarlyLooks, lookAtBooks, readOrders } from "./books.ts";
import type { CheckOptions } from "./command.ts";

export async function checkEndpoint(context: Context, options: CheckOptions): Promise<number> {
  const { out, debug } = context;
  const { url, signWith, cover, junit } = options;
  const key = await loadSigningKey(signWith, context);
  const orders = await readOrders(options, context);
  const parts = { ...context, url, key, cover, orders };
  const before = await bookedBefore(options, orders, context);
  const total = caseCount(parts);
  const results: CaseResult[] = [];
  const early = new EarlyLooks();
  let ended: Ended | undefined;
  for await (const result of runChecks(parts)) {
    if ("why" in result) {
      ended = result;
      break;
    }
    results.push(result);
    const { length } = results;
    out.progress(length < total ? `${renderBar(length / total)}  ${length} of ${total} cases` : undefined);
    await early.look(options, result, { before, knowsOrders: orders.length > 0 }, context);
  }
  out.progress(undefined);
  if (ended !== undefined && results.length === 0) throw endpointNotReached(url.href, ended.last, UNREACHED);
  const books = await examineBooks(options, results, { before, knowsOrders: orders.length > 0 }, context);
  if (junit !== undefined)
    await context.writeFile(junit, renderJunit(url.href, results, books.orders), "--junit");
  const failed = results.filter(({ ok, required }) => !ok && required);
  const warnings = results.filter(({ ok, required }) => !ok && !required).length;
  const passed = results.length - failed.length - warnings;
  const cause = commonCause(results, samplesKey(signWith));
  const left = failed.length === 0 && books.failure === undefined ? notExamined(options, orders) : [];
  out.result(
    () => ({
      url: url.href,
      passed,
      failed: failed.length,
      warnings,
      cause,
      cases: results.map(caseDocument),
      ...booksDocument(books, early),
      notExamined: left,
    }),
    () =>
      [
        ...renderCases(results, debug, out.paint),
        ...(books.orders === undefined ? [] : [renderBooks(books.orders, out.paint)]),
      ].join("\n"),
  );
  if (early.late > 0) out.warn(lateWords(early));
  if (failed.length > 0) {
    if (books.failure !== undefined) out.warn(books.failure.message);
    throw failure(results, failed, { ended, cause }, options);
  }
  if (books.failure !== undefined) throw books.failure;
  if (left.length > 0) out.note(`Not examined: ${left.join("; ")}.`);
  return 0;
}

const lateWords = ({ late, looked }: EarlyLooks): string =>
  `${late} of ${looked} payments that were looked up at once were not booked yet when the answer came. An application that answers before it stores loses a payment if it stops in between, since the service does not send it again: store first, and then answer.`;

/** What this check cannot tell, and how to have it told. */
const notExamined = ({ books, orders: path }: CheckOptions, orders: readonly SampleOrder[]): string[] => [
  ...(books === undefined
    ? ["what your application books, and whether twice (--books <command>, which prints it)"]
    : []),
  ...(path === undefined
    ? ["whether a wrong amount or currency pays an order (--orders <file>, with --books)"]
    : orders.length < ENOUGH_ORDERS
      ? [`each kind of wrong payment alone (name ${ENOUGH_ORDERS} orders or more in --orders)`]
      : []),
];

/** What the books show at the end. */
interface ExaminedBooks {
  /** Undefined without `--books`, or if they cannot be read. */
  readonly orders: readonly BookedOrder[] | undefined;
  /** That they are wrong, or cannot be read. */
  readonly failure: PaylinkError | undefined;
}

async function examineBooks(
  { books, map }: CheckOptions,
  results: readonly CaseResult[],
  known: Omit<ExpectedBookings, "uses">,
  context: Context,
): Promise<ExaminedBooks> {
  if (books === undefined) return { orders: undefined, failure: undefined };
  try {
    const uses = results.flatMap((result) => result.uses);
    const orders = await lookAtBooks({ books, map }, { uses, ...known }, context);
    return { orders, failure: booksFailure(orders, known.knowsOrders) };
  } catch (error) {
    if (!(error instanceof PaylinkError) || error.code !== "usage") throw error;
    return { orders: undefined, failure: error };
  }
}

function booksFailure(orders: readonly BookedOrder[], knowsOrders: boolean): PaylinkError | undefined {
  const wrong = orders.filter(({ finding }) => finding !== undefined);
  if (wrong.length === 0) return undefined;
  const has = (name: BookedFinding): boolean => wrong.some(({ finding }) => finding === name);
  const hints: Hint[] = [
    ...(has("twice")
      ? [
          hint`An application that looks first and then books will book both of two copies that arrive together. Let the database decide: a unique column (the uti, or the order number), and an insert that does nothing where the row exists (ON CONFLICT DO NOTHING).`,
        ]
      : []),
    ...(has("not booked")
      ? [
          hint`It answered 2xx all the same, so the service does not send these again. Answer 2xx only once a payment is stored.`,
        ]
      : []),
    ...(has("not booked") && !knowsOrders
      ? [hint`If your application books only orders that it knows, name some with --orders.`]
      : []),
    ...(has("not paid")
      ? [
          hint`A payment pays an order only if amount and currency are those of the order, and if it is no part of it.`,
        ]
      : []),
  ];
  return new PaylinkError(
    "records_differ",
    `The books are wrong for ${wrong.length} of ${orders.length} orders.`,
    {
      hints,
    },
  );
}

const booksDocument = ({ orders }: ExaminedBooks, { late }: EarlyLooks): object =>
  orders === undefined
    ? {}
    : {
        books: {
          orders: orders.length,
          late,
          findings: orders.flatMap((one) =>
            one.finding === undefined
              ? []
              : [{ order: one.order.number, finding: one.finding, message: bookedWords(one) }],
          ),
        },
      };

const UNREACHED = {
  effect: "check",
  next: hint`Start the endpoint and run this again.`,
} as const;

/** As `--json` has it, member by member. */
function caseDocument(result: CaseResult): object {
  const { name, expects, required, ok, description, consequence, answered, answers, wrong } = result;
  const said = wrong === undefined ? {} : { said: wrongAnswerWords(result) };
  const statuses = answers.map(({ status }) => status);
  return { name, expects, required, ok, description, consequence, answered, statuses, ...said };
}

type Endpoint = Pick<CheckOptions, "url" | "signWith" | "cover">;

interface Why {
  readonly ended: Ended | undefined;
  /** One for all failures. */
  readonly cause: string | undefined;
}

function failure(
  results: readonly CaseResult[],
  failed: readonly CaseResult[],
  { ended, cause }: Why,
  endpoint: Endpoint,
): PaylinkError {
  const names = failed.map(({ name }) => name);
  const counted = isNoneTaken(results)
    ? "The endpoint accepts no genuine webhook, so its refusals prove nothing yet."
    : `${failed.length} of ${results.length} cases failed: ${listed(names)}.`;
  return new PaylinkError("check_failed", [counted, ...endWords(ended)].join(" "), {
    details: { failed: names },
    hints:
      ended?.why === "silent" && (cause === undefined || isNoneTaken(results))
        ? [SLOW_ADVICE]
        : [
            ...(cause === undefined ? [] : [[cause]]),
            ...(ended === undefined ? [] : [hint`Its log says why: start it again.`]),
            again(results, failed, endpoint),
          ],
  });
}

const SLOW_ADVICE = hint`Answer as soon as the webhook is stored, and do the rest afterwards. The sandbox waits 10 seconds; how long the service waits is not documented. Without an answer, it sends the webhook again until it gives up.`;

/** Why cases were not tried. */
function endWords(ended: Ended | undefined): string[] {
  if (ended === undefined) return [];
  const { why, last, left } = ended;
  const stopped = why === "silent" ? "The endpoint does not answer" : "Then the endpoint stopped answering";
  return [`${stopped} (${last.reason}), and ${plural(left, "case was", "cases were")} not tried.`];
}

/** How to send one of them once more. Each case that must be refused is a kind of --tamper. */
function again(
  results: readonly CaseResult[],
  failed: readonly CaseResult[],
  { url, signWith, cover }: Endpoint,
): Hint {
  const tampered = isNoneTaken(results) ? undefined : failed.find(({ expects }) => expects === "refused");
  const command = paylink`trigger approved ${{
    "--tamper": tampered?.name,
    "--to": url.href,
    "--sign-with": signWith,
    "--cover": cover?.join(" "),
    "--allow-remote": !isLoopback(url.hostname),
  }}`;
  return hint`To send ${tampered === undefined ? "a genuine webhook" : tampered.name} again: ${command}`;
}
