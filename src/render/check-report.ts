/** Reports the cases of `check`, for people, as TAP and as JUnit XML. A failed case names the request, the answer and the consequence. */
import type { Answer, CaseResult } from "../check/endpoint.ts";
import { isAccepted } from "../receiver/events.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import { clip } from "./width.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import { renderCompactRecord } from "./transaction-record.ts";

const NAME_WIDTH = 28;

export function renderCase(result: CaseResult, paint: Paint): string {
  const { name, ok, required, expects, answered, matters } = result;
  const mark = ok ? paint.green("✓") : required ? paint.red("✗") : paint.yellow("!");
  const line = `${mark} ${name.padEnd(NAME_WIDTH)}${paint.dim(`${ok ? expects : `not ${expects}`}, ${safeText(answered)}`)}`;
  return ok ? line : [line, `    ${safeText(sentenceOf(result))}`, `    ${matters}`].join("\n");
}

const EXPECTED = { accepted: "accept it with 2xx", refused: "refuse it with 4xx" } as const;

/** The request, the answer and the expected answer. */
function sentenceOf({ sent, answered, expects, required }: CaseResult): string {
  const words = /^\d/.test(answered) ? `answered ${answered}` : `gave ${answered}`;
  return `The endpoint received ${sent}, and ${words}. It ${required ? "must" : "should"} ${EXPECTED[expects]}.`;
}

/** TAP 14, with a YAML block for each failure; a warning is a test that is marked as not required. */
export function renderTap(results: readonly CaseResult[]): string {
  const lines = results.flatMap((result, at) => [
    `${result.ok ? "ok" : "not ok"} ${at + 1} - ${result.name}${result.ok || result.required ? "" : " # TODO not required"}`,
    ...(result.ok
      ? []
      : [
          "  ---",
          ...Object.entries({ message: sentenceOf(result), why: result.matters }).map(
            ([key, value]) => `  ${key}: ${JSON.stringify(safeText(value))}`,
          ),
          "  ...",
        ]),
  ]);
  return ["TAP version 14", `1..${results.length}`, ...lines].join("\n");
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
  const { name, ok, required, expects, matters } = result;
  const start = `    <testcase classname="paylink.check.${expects}" name="${xml(name)}"`;
  if (ok) return `${start}/>`;
  const message = xml(sentenceOf(result));
  const body = required
    ? `<failure message="${message}">${xml(matters)}</failure>`
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
