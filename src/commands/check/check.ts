/** Checks a merchant's own endpoint, and reports for each case whether the answer was right. */
import type { BookedFinding, BookedOrder } from "../../check/booked.ts";
import { loadSigningKey } from "../../sender/signing-key.ts";
import { caseCount, type CaseResult, type Ended, runChecks } from "../../check/endpoint.ts";
import type { SampleOrder } from "../../sender/samples.ts";
import type { Context } from "../../context.ts";
import { isLoopback } from "../../domain/addresses.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint, type Hint, paylink } from "../../domain/hint.ts";
import { bookedWords, renderBooks } from "../../render/booked.ts";
import { renderJunit, wrongAnswerWords } from "../../render/check-report.ts";
import { renderBar } from "../../render/layout.ts";
import { endpointNotReached } from "../unreached-endpoint.ts";
import { bookedBefore, lookAtBooks, readOrders } from "./books.ts";
import { CaseReport, sameAnswer } from "./case-report.ts";
import type { CheckOptions } from "./flags.ts";

export async function checkEndpoint(context: Context, options: CheckOptions): Promise<number> {
  const { out } = context;
  const { url, signWith, cover, junit } = options;
  const key = await loadSigningKey(signWith, context);
  const orders = await readOrders(options, context);
  const parts = { ...context, url, key, cover, orders };
  const before = await bookedAtStart(options, orders, context);
  const total = caseCount(parts);
  const report = new CaseReport(out);
  let ended: Ended | undefined;
  for await (const result of runChecks(parts)) {
    if ("why" in result) {
      ended = result;
      break;
    }
    report.add(result);
    const { length } = report.results;
    out.progress(length < total ? `${renderBar(length / total)}  ${length} of ${total} cases` : undefined);
  }
  out.progress(undefined);
  report.end();
  const { results } = report;
  if (ended !== undefined && results.length === 0) throw endpointNotReached(url.href, ended.last, UNREACHED);
  const books = await examineBooks(options, results, { before, knowsOrders: orders.length > 0 }, context);
  if (junit !== undefined)
    await context.writeFile(junit, renderJunit(url.href, results, books.orders), "--junit");
  const failed = results.filter(({ ok, required }) => !ok && required);
  const warned = results.filter(({ ok, required }) => !ok && !required);
  const passed = results.length - failed.length - warned.length;
  const counts = { passed, failed: failed.length, warnings: warned.length };
  if (out.json) {
    const cases = results.map(caseDocument);
    out.data(JSON.stringify({ url: url.href, ...counts, cases, ...booksDocument(books) }, null, 2));
  } else if (books.orders !== undefined) out.lines([renderBooks(books.orders, out.paint)]);
  if (failed.length > 0) {
    if (books.failure !== undefined) out.warn(books.failure.message);
    throw failure(results, failed, ended, options);
  }
  if (books.failure !== undefined) throw books.failure;
  out.note(
    warned.length === 0
      ? `All ${results.length} cases passed.`
      : `All ${passed} required cases passed. Warnings: ${caseNames(warned).join(", ")}.`,
  );
  return 0;
}

/** What the books show at the end. */
interface ExaminedBooks {
  /** Undefined without `--books`, or if they cannot be read. */
  readonly orders: readonly BookedOrder[] | undefined;
  /** That they are wrong, or cannot be read. */
  readonly failure: PaylinkError | undefined;
}

async function bookedAtStart(
  { books, map }: CheckOptions,
  orders: readonly SampleOrder[],
  context: Context,
): Promise<ReadonlySet<string>> {
  if (books === undefined || orders.length === 0) return new Set();
  const before = await bookedBefore({ books, map }, orders, context);
  if (before.size > 0)
    context.out.warn(
      `${before.size === 1 ? "An order of --orders is" : `${before.size} orders of --orders are`} already booked. ${before.size === 1 ? "Its bookings" : "Their bookings"} must not change; whether the first one is right is not checked.`,
    );
  return before;
}

async function examineBooks(
  { books, map }: CheckOptions,
  results: readonly CaseResult[],
  known: { readonly before: ReadonlySet<string>; readonly knowsOrders: boolean },
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
    ...(has("not booked") && !knowsOrders
      ? [hint`If your application books only orders that it knows, name some with --orders.`]
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

const booksDocument = ({ orders }: ExaminedBooks): object =>
  orders === undefined
    ? {}
    : {
        books: {
          orders: orders.length,
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

const caseNames = (results: readonly CaseResult[]): string[] => results.map(({ name }) => name);

/** As `--json` has it, member by member. */
function caseDocument(result: CaseResult): object {
  const { name, expects, required, ok, description, consequence, answered, statuses, wrong } = result;
  const said = wrong === undefined ? {} : { said: wrongAnswerWords(result) };
  return { name, expects, required, ok, description, consequence, answered, statuses, ...said };
}

type Endpoint = Pick<CheckOptions, "url" | "signWith" | "cover">;

function failure(
  results: readonly CaseResult[],
  failed: readonly CaseResult[],
  ended: Ended | undefined,
  options: Endpoint,
): PaylinkError {
  const names = caseNames(failed);
  const same = sameAnswer(results);
  const counted =
    same === undefined
      ? `${failed.length} of ${results.length} cases failed: ${names.join(", ")}.`
      : `The endpoint gave the same answer in all ${results.length} cases, genuine or tampered with: ${same}.`;
  return new PaylinkError("check_failed", [counted, ...endWords(ended)].join(" "), {
    details: { failed: names },
    hints: [
      ended?.why === "silent"
        ? hint`Answer as soon as the webhook is stored, and do the rest afterwards. The sandbox waits 10 seconds; how long the service waits is not documented. Without an answer, it sends the webhook again until it gives up.`
        : adviceForFailed(results, failed, options),
    ],
  });
}

/** Why cases were not tried. */
function endWords(ended: Ended | undefined): string[] {
  if (ended === undefined) return [];
  const { why, last, left } = ended;
  const stopped = why === "silent" ? "The endpoint does not answer" : "Then the endpoint stopped answering";
  return [`${stopped} (${last.reason}), and ${left} ${left === 1 ? "case was" : "cases were"} not tried.`];
}

/** If no genuine webhook is accepted, refusals prove nothing: that must be fixed first. */
function adviceForFailed(
  results: readonly CaseResult[],
  failed: readonly CaseResult[],
  { url, signWith, cover }: Endpoint,
): Hint {
  const accepted = results.filter(({ expects, ok }) => expects === "accepted" && ok);
  if (results.every(({ statuses }) => statuses.every((status) => status === 404)))
    return hint`It answers 404 to everything, so there is nothing at this path. Give the endpoint's full address.`;
  if (accepted.length === 0)
    return hint`It accepts no genuine webhook, so its refusals prove nothing yet. Check that it verifies with the key that signs here (--sign-with), and for this address.`;
  // Each case that must be refused is a kind of --tamper.
  const tampered = failed.find(({ expects }) => expects === "refused");
  const again = paylink`trigger approved ${{
    "--tamper": tampered?.name,
    "--to": url.href,
    "--sign-with": signWith,
    "--cover": cover?.join(" "),
    "--allow-remote": !isLoopback(url.hostname),
  }}`;
  return tampered === undefined
    ? hint`Each is explained above. To send a genuine webhook: ${again}`
    : hint`Each is explained above. To send ${tampered.name} again: ${again}`;
}
