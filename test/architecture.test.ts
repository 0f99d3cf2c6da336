/** The house rules, checked on the sources: imports, circles, opening sentences, and words that only one place may use. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FAILURES } from "../src/domain/errors.ts";
import { REFUSAL_MEANINGS } from "../src/domain/reasons.ts";
import { CONTRIBUTING, withTable } from "./architecture/contributing.mjs";
import { COMMANDS, FILES, FOLDERS } from "./architecture/folders.mjs";
import { circles, importsOf, readSources, type Import, type Source } from "./architecture/sources.ts";

const within = (target: string, name: string): boolean => target === name || target.startsWith(`${name}/`);

/** What is wrong with an import; undefined where it is allowed. */
function importProblem({ file, target }: Import): string | undefined {
  const [folder = "", command] = file.split("/");
  const problem = `${file} may not import ${target}`;
  if (file === "main" || file.startsWith("open-")) return undefined;
  if (folder === "commands") {
    const other = target.startsWith("commands/") && target.split("/")[1] !== command;
    if (other && !COMMANDS.shared.includes(target)) return problem;
    return COMMANDS.mayNotImport.some((name) => within(target, name)) ? problem : undefined;
  }
  const allowed = [folder, ...(FOLDERS[folder]?.mayImport ?? FILES[folder] ?? [])];
  return allowed.some((name) => within(target, name)) ? undefined : problem;
}

/** Words that one place alone may use. */
const WORDS: readonly { word: RegExp; only: readonly string[] }[] = [
  { word: /\bconsole\b/, only: [] },
  { word: /\bprocess\.exit\b/, only: ["main", "terminal/signals"] },
  { word: /\bprocess\.(?!env\b)/, only: ["entry", "main", "open-context", "terminal"] },
  { word: /\bglobalThis\b/, only: ["library/webhooks"] },
  { word: /"undici[/"]/, only: ["http/send"] },
  { word: /\bnew Date\(\)|\bDate\.now\b/, only: ["main", "open-context", "library/webhooks"] },
  {
    word: /\brandomUUID\b|\brandomBytes\b|\brandomInt\b|\bMath\.random\b/,
    only: ["main", "open-context", "library/webhooks"],
  },
  { word: /\bas any\b|: any\b/, only: [] },
];

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");

function wordProblems({ file, text }: Source): string[] {
  const code = withoutComments(text);
  return WORDS.filter(({ word, only }) => word.test(code) && !only.some((home) => within(file, home))).map(
    ({ word }) => `${file} may not use ${word.source}`,
  );
}

const openingComment = (text: string): string => /^\/\*\*[\s\S]*?\*\//.exec(text)?.[0] ?? "";

const opensWithSentence = ({ text }: Source): boolean =>
  /^\/\*\*(?:\n \*)? [A-Z`][\s\S]*\.(?:\n \*\/| \*\/)/.test(openingComment(text));

const filesOf = (sources: readonly Source[]): string[] => sources.map(({ file }) => file);

describe("the sources", () => {
  const sources = readSources();
  const imports = sources.flatMap(importsOf);

  it("use each reason and each error outside its table", () => {
    const codes = [...Object.keys(REFUSAL_MEANINGS), ...Object.keys(FAILURES)];
    const others = sources.filter(({ file }) => file !== "domain/reasons" && file !== "domain/errors");
    const code = others.map(({ text }) => withoutComments(text)).join("\n");
    expect(codes.length).toBeGreaterThan(50);
    expect(codes.filter((name) => !code.includes(`"${name}"`))).toEqual([]);
  });

  it("import only what the table of folders allows", () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.flatMap((one) => importProblem(one) ?? [])).toEqual([]);
  });

  it("do not import each other in a circle", () => {
    expect(circles(imports)).toEqual([]);
  });

  it("use each reserved word only in its place", () => {
    expect(sources.flatMap(wordProblems)).toEqual([]);
  });

  it("open with a sentence", () => {
    expect(filesOf(sources.filter((source) => !opensWithSentence(source)))).toEqual([]);
  });
});

it("the table of folders in CONTRIBUTING is up to date (npm run docs)", async () => {
  const text = readFileSync(CONTRIBUTING, "utf8");
  expect(text).toContain("<!-- folders -->");
  expect(await withTable(text)).toBe(text);
});

it("CONTRIBUTING and README name only files and scripts that exist", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    scripts: Readonly<Record<string, string>>;
  };
  const sources = filesOf(readSources());
  for (const page of [".github/CONTRIBUTING.md", "README.md"]) {
    const text = readFileSync(new URL(`../${page}`, import.meta.url), "utf8");
    const named = [...text.matchAll(/(?<=[`( ])(?:src|test|bin|\.config|\.github)\/[\w./-]*\w/g)].map(
      ([path]) => path,
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)))).toEqual([]);
    const bare = [...text.matchAll(/`([\w-]+)\.ts`/g)].map(([, name = ""]) => name);
    expect(bare.filter((name) => !sources.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([]);
    const run = [...text.matchAll(/npm run\s+([\w:]+)/g)].map(([, name = ""]) => name);
    expect(run.filter((name) => scripts[name] === undefined)).toEqual([]);
  }
});

describe("the checks", () => {
  it.each([
    ["receiver/receiver", 'import { createSandbox } from "../sandbox/server.ts";'],
    ["domain/money", 'import { createSender } from "../http/send.ts";'],
    ["commands/pay/pay", 'import { demo } from "../demo/demo.ts";'],
    ["api/client", 'import { Agent } from "undici";'],
  ])("notice that %s contains %s", (file, text) => {
    expect(importsOf({ file, text }).map(importProblem)).toEqual([expect.stringContaining(file)]);
  });

  it.each([
    ["receiver/receiver", "console.log(1)"],
    ["api/client", "process.exit(1)"],
    ["signatures/verify", "const now = Date.now();"],
  ])("notice that %s contains %s", (file, text) => {
    expect(wordProblems({ file, text })).not.toEqual([]);
  });

  it("notice a circle, and report its path; types and lazy imports close none", () => {
    const circle = (last: string): string[] =>
      circles(
        [
          { file: "program", text: 'import pay from "./pay/command.ts";' },
          { file: "pay/command", text: 'import { pay } from "./pay.ts";' },
          { file: "pay/pay", text: 'export { readOptions } from "./options.ts";' },
          { file: "pay/options", text: last },
        ].flatMap(importsOf),
      );
    expect(circle('import { FLAGS } from "./command.ts";')).toEqual([
      "pay/command → pay/pay → pay/options → pay/command",
    ]);
    expect(circle('import type { Flags } from "./command.ts";')).toEqual([]);
    expect(circle('const { run } = await import("./command.ts");')).toEqual([]);
  });

  it.each(["// What is here.", "/** what is here. */", "import x from 'y';"])(
    "notice the opening %s",
    (text) => {
      expect(opensWithSentence({ file: "a", text })).toBe(false);
    },
  );
});
