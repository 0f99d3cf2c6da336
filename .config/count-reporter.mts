/** Prints `N passed, N failed` after vitest's own summary: one plain line that any gate can read. */
import type { Reporter, TestCase, TestModule } from "vitest/node";

export class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const passed = tests.filter((test) => test.result().state === "passed").length;
    const skippedTests = tests.filter((test) => test.result().state === "skipped");
    const skipped = skippedTests.length;
    const broken = modules.flatMap((module) => module.errors()).length + errors.length;
    const failed = tests.length - passed - skipped + broken;
    for (const test of skippedTests) process.stdout.write(`skipped: ${test.fullName}${reasonOf(test)}\n`);
    process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
  }
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  return result.state === "skipped" && result.note !== undefined ? ` (${result.note})` : "";
}
