/** Prints `N passed, N failed` after vitest's own summary: one plain line that any gate can read. */
import type { Reporter, TestModule } from "vitest/node";

export class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const passed = tests.filter((test) => test.result().state === "passed").length;
    const skipped = tests.filter((test) => test.result().state === "skipped").length;
    const broken = modules.flatMap((module) => module.errors()).length + errors.length;
    const failed = tests.length - passed - skipped + broken;
    process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
  }
}
