/** Reports the cases of `check`, for people and as JUnit XML. A failed case names the request, the answer and the consequence. */
import { grouped } from "../values/groups.ts";
import { answerWords, isPage, pageWords } from "../http/answer-words.ts";
import { errorText } from "../http/error-words.ts";
import { isSuccess } from "../http/message.ts";
import type { BookedOrder } from "../check/booked.ts";
import { answersIn, type CaseResult, type EndpointAnswer } from "../check/endpoint.ts";
import { EXACT_BYTES, type ExpectedAnswer, isUndated } from "../check/endpoint-case.ts";
import { bookedWords } from "./booked.ts";
import { likelyCause } from "./likely-cause.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import { clip } from "./width.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import { renderCompactRecord } from "./transaction-record.ts";

const NAME_WIDTH = 28;

/** Kinds of failures that are explained: a mistake shows in many cases, and the others are named. */
const KINDS_SHOWN = 3;
const NAMES_SHOWN = 6;

/** The failed cases: one of each kind is explained. With `all`, each case that was tried. */
export function renderCases(results: readonly CaseResult[], all: boolean, paint: Paint): string[] {
  if (all) return results.map((result) => renderCase(result, paint));
  const passed = results.filter(({ ok }) => ok).length;
  if (isNoneTaken(results)) return [renderNoneTaken(results, paint)];
  const kinds = kindsOf(results.filter(({ ok }) => !ok));
  return [
    ...kinds.slice(0, KINDS_SHOWN).map((kind) => renderKind(kind, paint)),
    ...kinds
      .slice(KINDS_SHOWN)
      .map((kind) => `${caseMark(kind[0], paint)} ${listed(kind.map(({ name }) => name))}`),
    `${paint.green("✓")} ${passed === results.length ? "all" : `${passed} of`} ${results.length} cases passed`,
  ];
}

/** Cases that the endpoint answered in the same way, and wrongly; those that fail the check first. */
function kindsOf(failed: readonly CaseResult[]): (readonly CaseResult[])[] {
  const sorted = failed.toSorted((one, other) => Number(other.required) - Number(one.required));
  const kinds = grouped(sorted, (result) => {
    const statuses = new Set(result.answers.map(({ status }) => status));
    return JSON.stringify([result.expects, result.required, [...statuses], wrongAnswerWords(result)]);
  });
  return [...kinds.values()];
}

function renderKind([first, ...others]: readonly CaseResult[], paint: Paint): string {
  if (first === undefined) return "";
  const likewise = others.length === 0 ? [] : [`    likewise: ${listed(others.map(({ name }) => name))}`];
  return [renderCase(first, paint), ...likewise].join("\n");
}

/** `a, b and 12 more`; `--debug` shows all. */
export function listed(names: readonly string[]): string {
  const rest = names.length - NAMES_SHOWN;
  return rest > 0
    ? `${names.slice(0, NAMES_SHOWN).join(", ")} and ${rest} more (--debug lists them)`
    : names.join(", ");
}

/** What the endpoint must accept. As long as it takes none of it, its refusals prove nothing. */
const genuineCases = (results: readonly CaseResult[]): CaseResult[] =>
  results.filter(({ expects, required }) => expects === "accepted" && required);

export const isNoneTaken = (results: readonly CaseResult[]): boolean => {
  const genuine = genuineCases(results);
  return (
    genuine.length > 0 && genuine.every(({ answers }) => !answers.some(({ status }) => isSuccess(status)))
  );
};

/** In place of all cases. */
function renderNoneTaken(results: readonly CaseResult[], paint: Paint): string {
  const genuine = genuineCases(results);
  const answers = genuine.flatMap((result) => result.answers);
  const said = saidWords(genuine[0]?.wrong);
  return [
    `${paint.red("✗")} none of ${genuine.length} genuine cases was accepted: ${safeText(answersIn(answers))}`,
    ...(said === undefined ? [] : [`    ${safeText(said)}`]),
  ].join("\n");
}

/**
 * Why all genuine webhooks are refused, or all forged ones accepted: one reason for all. Undefined where the cases differ, so that
 * each kind of failure speaks for itself.
 */
export function commonCause(results: readonly CaseResult[], ownKey: string): string | undefined {
  const answersOf = (cases: readonly CaseResult[]) => cases.flatMap(({ answers }) => answers);
  const forged = answersOf(results.filter(({ expects }) => expects === "refused"));
  const genuine = answersOf(genuineCases(results));
  const circumstances = { comesAgain: false, ownKey };
  if (!isNoneTaken(results)) {
    if (genuineCases(results).every((result) => result.ok === isUndated(result))) return WRONG_TIME;
    const copy = results.find(({ name, ok }) => name === EXACT_BYTES && !ok);
    const taken = genuine.filter(({ status }) => isSuccess(status));
    return copy === undefined ? likelyCause({ genuine: taken, forged }, circumstances) : causeOfCopy(copy);
  }
  const derived = results.find(({ expects, required, ok }) => expects === "accepted" && !required && ok);
  return derived === undefined
    ? likelyCause({ genuine, forged }, circumstances)
    : `It accepts ${derived.description}, and no other: the real service signs header fields only, so such an endpoint refuses every payment.`;
}

const WRONG_TIME =
  "It accepts only webhooks that do not say when they were signed (created): the clock of its machine is wrong, or it accepts too short an age.";

/** Of a body that changes when it is copied. */
const causeOfCopy = ({ wrong, consequence }: CaseResult): string =>
  (wrong && likelyCause({ genuine: [wrong] }, { comesAgain: false, isRightKey: true })) ?? consequence;

function renderCase(result: CaseResult, paint: Paint): string {
  const { name, ok, expects, answered, consequence } = result;
  const line = `${caseMark(result, paint)} ${name.padEnd(NAME_WIDTH)}${paint.dim(`${ok ? expects : `not ${expects}`}, ${safeText(answered)}`)}`;
  const lines = [line, `    ${safeText(sentenceOf(result))}`, `    ${consequence}`];
  const said = wrongAnswerWords(result);
  const below = said === "" ? [] : said.split("\n").map((text) => `    ${safeText(text)}`);
  return ok ? line : [...lines, ...below].join("\n");
}

function caseMark(result: CaseResult | undefined, paint: Paint): string {
  if (result?.ok === true) return paint.green("✓");
  return result?.required === true ? paint.red("✗") : paint.yellow("!");
}

/** What an endpoint said to the webhook that it answered wrongly, and why it probably did; empty if it said nothing. */
export function wrongAnswerWords({ wrong, expects }: Pick<CaseResult, "wrong" | "expects">): string {
  if (wrong === undefined) return "";
  // There is no likely cause for accepting what must be refused; that of the key is one for all cases.
  const circumstances = { comesAgain: false, isRightKey: true };
  const cause = expects === "accepted" ? likelyCause({ genuine: [wrong] }, circumstances) : undefined;
  return [saidWords(wrong), cause].filter((words) => words !== undefined).join("\n");
}

function saidWords(answer: CaseResult["wrong"]): string | undefined {
  const text = answer?.reply == null ? "" : answerWords(answer.reply.headers, answer.reply.text);
  return text === "" ? undefined : `It said: ${clip(text, CASE_ANSWER_LENGTH)}`;
}

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

/** XML 1.0 cannot contain most control characters, half a surrogate pair, U+FFFE and U+FFFF: such text is escaped first. */
const xml = (text: string): string =>
  text
    .split("\n")
    .map((line) =>
      safeText(line)
        .replace(/[\ufffe\uffff]|\p{Surrogate}/gu, (char) => `\\u${char.charCodeAt(0).toString(16)}`)
        .replace(/[&<>"]/g, (char) => XML_ENTITIES[char] ?? char),
    )
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
  const whole = isPage(reply.headers, reply.text) ? pageWords(reply.text) : reply.text.trim();
  // Its message may stand at its end.
  const body = whole.length > BODY_LENGTH ? (errorText(whole) ?? whole) : whole;
  const said = body === "" ? [] : clip(body, BODY_LENGTH).split(/\r?\n/);
  const below = [...said, ...(cause === undefined ? [] : [cause])];
  return [line, ...below.map((text) => safeText(text))].join("\n  ");
}
