/** Reports the cases of `check`, for people and as JUnit XML. A failed case names the request, the answer and the consequence. */
import { isSuccess } from "../http/message.ts";
import type { BookedOrder } from "../check/booked.ts";
import type { EndpointAnswer, CaseResult } from "../check/endpoint.ts";
import type { ExpectedAnswer } from "../check/endpoint-case.ts";
import { bookedWords } from "./booked.ts";
import { likelyCause } from "./likely-cause.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import { clip } from "./width.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import { renderCompactRecord } from "./transaction-record.ts";

const NAME_WIDTH = 28;

/** `said` is what `wrongAnswerWords` gives; undefined if that was shown with another case. */
export function renderCase(result: CaseResult, said: string | undefined, paint: Paint): string {
  const { name, ok, required, expects, answered, consequence } = result;
  const mark = ok ? paint.green("✓") : required ? paint.red("✗") : paint.yellow("!");
  const line = `${mark} ${name.padEnd(NAME_WIDTH)}${paint.dim(`${ok ? expects : `not ${expects}`}, ${safeText(answered)}`)}`;
  const lines = [line, `    ${safeText(sentenceOf(result))}`, `    ${consequence}`];
  const below = said?.split("\n").map((text) => `    ${safeText(text)}`) ?? [];
  return ok ? line : [...lines, ...below].join("\n");
}

/** In place of all cases: the endpoint answered each webhook in the same way, and accepted none. */
export function renderSameAnswer(answer: string, count: number, said: string, paint: Paint): string {
  const line = `${paint.red("✗")} ${`all ${count} cases`.padEnd(NAME_WIDTH)}${paint.dim(safeText(answer))}`;
  const below = said === "" ? [] : said.split("\n").map((text) => `    ${safeText(text)}`);
  return [line, "    Every webhook got the same answer, genuine or tampered with.", ...below].join("\n");
}

/** What an endpoint said to the webhook that it answered wrongly, and why it probably did; empty if it said nothing. */
export function wrongAnswerWords({ wrong, expects }: Pick<CaseResult, "wrong" | "expects">): string {
  if (wrong === undefined) return "";
  const text = inOneLine(wrong.reply?.text ?? "");
  // There is no likely cause for accepting what must be refused.
  const cause = expects === "accepted" ? likelyCause(wrong, { comesAgain: false }) : undefined;
  return [
    ...(text === "" ? [] : [`It said: ${clip(text, CASE_ANSWER_LENGTH)}`]),
    ...(cause === undefined ? [] : [cause]),
  ].join("\n");
}

const inOneLine = (text: string): string => text.trim().replaceAll(/\s+/g, " ");

/** Characters of an answer in a report of many. */
const CASE_ANSWER_LENGTH = 200;

const EXPECTED: Readonly<Record<ExpectedAnswer, string>> = {
  accepted: "accept it with 2xx",
  refused: "refuse it with 4xx",
  answered: "accept it with 2xx, or refuse it with 4xx",
};

/** The request, the answer and the expected answer. */
function sentenceOf({ description, answered, expects, required }: CaseResult): string {
  const words = /^\d/.test(answered) ? `answered ${answered}` : `gave ${answered}`;
  return `The endpoint received ${description}, and ${words}. It ${required ? "must" : "should"} ${EXPECTED[expects]}.`;
}

/** Each case is a test, and each order in the books. */
export function renderJunit(
  url: string,
  results: readonly CaseResult[],
  orders: readonly BookedOrder[] = [],
): string {
  const failed = results.filter(({ ok }) => !ok);
  const required = failed.filter((result) => result.required).length;
  const failures = required + orders.filter(({ finding }) => finding !== undefined).length;
  const counts = `tests="${results.length + orders.length}" failures="${failures}" errors="0" skipped="${failed.length - required}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${xml(`paylink check ${url}`)}" ${counts}>`,
    ...results.map(testcase),
    ...orders.map(bookedTestcase),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

/** JUnit has no warnings: a case that is not required is skipped. */
function testcase(result: CaseResult): string {
  const { name, ok, required, expects, consequence } = result;
  const start = `    <testcase classname="paylink.check.${expects}" name="${xml(name)}"`;
  if (ok) return `${start}/>`;
  const message = xml(sentenceOf(result));
  const said = wrongAnswerWords(result);
  const body = required
    ? `<failure message="${message}">${xml([consequence, ...(said === "" ? [] : [said])].join("\n"))}</failure>`
    : `<skipped message="${message}"/>`;
  return `${start}>\n      ${body}\n    </testcase>`;
}

function bookedTestcase(one: BookedOrder): string {
  const cases = [...new Set(one.uses.map((use) => use.case.name))].join(" ");
  const start = `    <testcase classname="paylink.check.books" name="${xml(`${cases} ${one.order.number}`)}"`;
  if (one.finding === undefined) return `${start}/>`;
  return `${start}>\n      <failure message="${xml(bookedWords(one))}"/>\n    </testcase>`;
}

const XML_ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** XML 1.0 cannot contain most control characters, so unsafe text is escaped first. */
const xml = (text: string): string =>
  text
    .split("\n")
    .map((line) => safeText(line).replace(/[&<>"]/g, (char) => XML_ENTITIES[char] ?? char))
    .join("\n");

/** Characters of the body, enough to show the error. */
const BODY_LENGTH = 500;

export function renderAnswer(
  record: TransactionRecord,
  { status, milliseconds, reply }: EndpointAnswer,
  cause: string | undefined,
  paint: Paint,
): string {
  const colour = isSuccess(status) ? paint.green : paint.red;
  const line = `${colour.bold(String(status))} ${paint.dim(`${milliseconds} ms`)}  ${renderCompactRecord(record, paint)}`;
  const body = reply.text.trim();
  const below = [...(body === "" ? [] : [clip(body, BODY_LENGTH)]), ...(cause === undefined ? [] : [cause])];
  return [line, ...below.map((text) => safeText(text))].join("\n  ");
}
