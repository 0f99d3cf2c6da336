/** Reports the cases of `check`, for people and as JUnit XML. A failed case names the request, the answer and the consequence. */
import type { Answer, CaseResult } from "../check/endpoint.ts";
import { isAccepted } from "../receiver/event.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import { clip } from "./width.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import { renderCompactRecord } from "./transaction-record.ts";

const NAME_WIDTH = 28;

export function renderCase(result: CaseResult, paint: Paint): string {
  const { name, ok, required, expects, answered, consequence } = result;
  const mark = ok ? paint.green("✓") : required ? paint.red("✗") : paint.yellow("!");
  const line = `${mark} ${name.padEnd(NAME_WIDTH)}${paint.dim(`${ok ? expects : `not ${expects}`}, ${safeText(answered)}`)}`;
  return ok ? line : [line, `    ${safeText(sentenceOf(result))}`, `    ${consequence}`].join("\n");
}

const EXPECTED = { accepted: "accept it with 2xx", refused: "refuse it with 4xx" } as const;

/** The request, the answer and the expected answer. */
function sentenceOf({ description, answered, expects, required }: CaseResult): string {
  const words = /^\d/.test(answered) ? `answered ${answered}` : `gave ${answered}`;
  return `The endpoint received ${description}, and ${words}. It ${required ? "must" : "should"} ${EXPECTED[expects]}.`;
}

export function renderJunit(url: string, results: readonly CaseResult[]): string {
  const failed = results.filter(({ ok }) => !ok);
  const failures = failed.filter(({ required }) => required).length;
  const counts = `tests="${results.length}" failures="${failures}" errors="0" skipped="${failed.length - failures}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${xml(`paylink check ${url}`)}" ${counts}>`,
    ...results.map(testcase),
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
  const body = required
    ? `<failure message="${message}">${xml(consequence)}</failure>`
    : `<skipped message="${message}"/>`;
  return `${start}>\n      ${body}\n    </testcase>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** XML 1.0 cannot contain most control characters, so unsafe text is escaped first. */
const xml = (text: string): string =>
  text
    .split("\n")
    .map((line) => safeText(line).replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char))
    .join("\n");

/** Characters of the body, enough to show the error. */
const BODY_LENGTH = 500;

export function renderAnswer(
  record: TransactionRecord,
  { status, milliseconds, body }: Answer,
  paint: Paint,
): string {
  const colour = isAccepted(status) ? paint.green : paint.red;
  const line = `${colour.bold(String(status))} ${paint.dim(`${milliseconds} ms`)}  ${renderCompactRecord(record, paint)}`;
  return body === "" ? line : `${line}\n  ${safeText(clip(body.trim(), BODY_LENGTH))}`;
}
