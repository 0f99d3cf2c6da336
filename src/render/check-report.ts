/** Reports the cases of `check`, for people, as TAP and as JUnit XML. Failed cases show what was sent and answered, and why it matters. */
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";

interface ShownCase {
  readonly name: string;
  readonly expects: "taken" | "refused";
  readonly ok: boolean;
  readonly sent: string;
  readonly matters: string;
  readonly answered: string;
}

const NAME_WIDTH = 28;

const EXPECTED_STATUS = { taken: "2xx", refused: "4xx" } as const;

export function renderCase(result: ShownCase, paint: Paint): string {
  const { name, ok, expects, sent, answered, matters } = result;
  const line = `${ok ? paint.green("✓") : paint.red("✗")} ${name.padEnd(NAME_WIDTH)}${paint.dim(`${expects}, ${safeText(answered)}`)}`;
  if (ok) return line;
  return [
    line,
    `    sent      ${sent}`,
    `    answered  ${safeText(answered)}, expected ${EXPECTED_STATUS[expects]}: it must be ${expects}`,
    `    why       ${matters}`,
  ].join("\n");
}

/** TAP 14, with a YAML block for each failure. */
export function renderTap(results: readonly ShownCase[]): string {
  const lines = results.flatMap(({ name, ok, expects, sent, answered, matters }, at) => [
    `${ok ? "ok" : "not ok"} ${at + 1} - ${name}`,
    ...(ok
      ? []
      : [
          "  ---",
          ...Object.entries({
            sent,
            answered,
            expected: `${expects} (${EXPECTED_STATUS[expects]})`,
            why: matters,
          }).map(([key, value]) => `  ${key}: ${JSON.stringify(safeText(value))}`),
          "  ...",
        ]),
  ]);
  return ["TAP version 14", `1..${results.length}`, ...lines].join("\n");
}

export function renderJunit(url: string, results: readonly ShownCase[]): string {
  const failures = results.filter(({ ok }) => !ok).length;
  const counts = `tests="${results.length}" failures="${failures}" errors="0" skipped="0"`;
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

function testcase({ name, ok, expects, sent, answered, matters }: ShownCase): string {
  const start = `    <testcase classname="paylink.check.${expects}" name="${xml(name)}"`;
  if (ok) return `${start}/>`;
  const message = xml(`answered ${answered}, expected ${EXPECTED_STATUS[expects]}`);
  const text = xml(`sent: ${sent}\nwhy: ${matters}`);
  return `${start}>\n      <failure message="${message}">${text}</failure>\n    </testcase>`;
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
