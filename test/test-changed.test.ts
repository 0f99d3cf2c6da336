/** `npm run test:changed`, in a small repository: which tests it runs for what was changed. */
import { execFileSync } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryHome } from "./support/home.ts";

const SCRIPT = resolve(import.meta.dirname, "../.config/test-changed.mjs");

const FILES: Readonly<Record<string, string>> = {
  "src/program.ts": `const COMMANDS = {
    pay: ["pays", () => import("./commands/pay.ts")],
    show: ["shows", () => import("./commands/show.ts")],
};`,
  "src/commands/pay.ts": `import { money } from "../money.ts";`,
  "src/commands/show.ts": "",
  "src/money.ts": `import { digits } from "./digits.ts";`,
  "src/digits.ts": "",
  "src/start.ts": "",
  "test/list.csv": "",
  "test/support/paylink.ts": "",
  "test/money.test.ts": `import { money } from "../src/money.ts";`,
  "test/pay.test.ts": `import { run } from "./support/paylink.ts";\nrun("pay");`,
  "test/show.test.ts": `import { run } from "./support/paylink.ts";\nrun("show");`,
  "test/lists.test.ts": `readFileSync("list.csv");`,
};

/** The tests that it has vitest run once these files are changed. */
function testsFor(...changed: readonly string[]): string[] {
  const home = temporaryHome();
  const repository = join(home, "repository");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o755 });
  };
  for (const [file, text] of Object.entries(FILES)) write(join(repository, file), text);
  mkdirSync(join(repository, ".config"));
  const script = join(repository, ".config/test-changed.mjs");
  copyFileSync(SCRIPT, script);
  write(join(home, "bin/npx"), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  const env = {
    PATH: [join(home, "bin"), process.env["PATH"] ?? ""].join(delimiter),
    HOME: home,
    GIT_CONFIG_GLOBAL: "/dev/null",
  };
  const run = (program: string, ...args: readonly string[]): string =>
    execFileSync(program, args, { cwd: repository, env, encoding: "utf8" });
  run("git", "init", "--quiet");
  run("git", "add", ".");
  run("git", "-c", "user.name=Ada", "-c", "user.email=ada@shop.example", "commit", "--quiet", "-m", "Begin");
  for (const file of changed) appendFileSync(join(repository, file), "\n");
  const printed = run(process.execPath, script).split("\n");
  const tests = printed.filter((line) => line.endsWith(".test.ts"));
  expect(printed[0]).toBe(`${tests.length} test files, for ${changed.length} changed files`);
  return tests.toSorted();
}

it.each([
  ["nothing that has changed", [], []],
  ["a test", ["test/show.test.ts"], ["test/show.test.ts"]],
  ["what a test imports, and a command loads", ["src/money.ts"], ["test/money.test.ts", "test/pay.test.ts"]],
  ["what is imported by that", ["src/digits.ts"], ["test/money.test.ts", "test/pay.test.ts"]],
  ["a command", ["src/commands/show.ts"], ["test/show.test.ts"]],
  ["what all commands need", ["src/start.ts"], ["test/pay.test.ts", "test/show.test.ts"]],
  ["what runs the program", ["test/support/paylink.ts"], ["test/pay.test.ts", "test/show.test.ts"]],
  ["a new file of the program", ["src/new.ts"], ["test/pay.test.ts", "test/show.test.ts"]],
  ["a list that a test reads", ["test/list.csv"], ["test/lists.test.ts"]],
])("runs the tests of %s", (_, changed, tests) => {
  expect(testsFor(...changed)).toEqual(tests);
});
