/** How the tests run: real processes and sockets take their time, and the gate wants one plain closing line. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { CountReporter } from "./count-reporter.mts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/**
 * Optimising what has run for a moment takes a tenth of the processor time of the whole, and most of it is not run often enough
 * afterwards: here it has to run 15 times as long. V8 of Node 20 alone is known to have the flag; that of 24 refuses to start with it.
 */
const V8_FLAGS = process.versions.node.startsWith("20.") ? ["--interrupt-budget=1000000"] : [];

/** The tests of `npm run test:package`. */
export const PACKAGE_TESTS = ["test/package/**/*.test.ts", "test/browser/**/*.test.ts"];

export default defineConfig({
  define: { PAYLINK_VERSION: JSON.stringify(version), PAYLINK_ISSUES: '""' },
  resolve: {
    alias: [
      // openapi-typescript needs the compiler's old API, which TypeScript 7 does not have.
      { find: /^typescript$/, replacement: "typescript-5" },
      // The receivers of paylink help webhooks import the package, which is the built library.
      {
        find: /^paylink-webhooks$/,
        replacement: fileURLToPath(new URL("../dist/webhooks/index.mjs", import.meta.url)),
      },
    ],
  },
  test: {
    server: { deps: { inline: ["openapi-typescript"] } },
    setupFiles: ["test/support/keys-setup.ts"],
    globalSetup: ["build", "memory", "postgres"].map((name) => `test/support/${name}-setup.ts`),
    // Without it, the style sheets of the pages are empty.
    css: true,
    root: fileURLToPath(new URL("..", import.meta.url)),
    include: ["test/**/*.test.ts"],
    exclude: PACKAGE_TESTS,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A worker on a busy machine may end later than after the usual 10 s, and a line of that would follow the closing line.
    teardownTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // No module keeps anything between tests: a worker that loads each once needs a third less time for the whole.
    isolate: false,
    execArgv: V8_FLAGS,
    // Most tests wait for processes and sockets.
    maxWorkers: 2 * availableParallelism(),
    reporters: ["default", new CountReporter()],
  },
});
