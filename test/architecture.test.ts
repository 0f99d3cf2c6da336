/** The house rules, read off the sources: which folder may import which, and words that have one home each. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

/** What each folder may import besides itself: folders, files of folders, and packages. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: ["zod/mini", "lossless-json", "currency-codes/data"],
  http: ["domain", "undici", "node:http", "node:https", "node:net", "node:os"],
  signatures: ["http/message", "structured-headers", "node:crypto", "node:zlib"],
  api: ["domain", "http/message", "http/exchange", "store/in-force", "oauth4webapi"],
  requests: ["domain", "store/in-force", "store/profile", "commander"],
  receiver: [
    "domain",
    "http/message",
    "http/exchange",
    "http/raw-request",
    "signatures",
    "node:zlib",
    "node:crypto",
  ],
  sandbox: ["domain", "http/message", "http/exchange", "signatures", "hono", "hono/html", "node:crypto"],
  webhooks: [
    "domain",
    "http/message",
    "http/exchange",
    "signatures",
    "store/sandbox-identity",
    "node:crypto",
    "node:path",
  ],
  bulk: [
    "domain",
    "api/retries",
    "http/exchange",
    "http/message",
    "store/journal",
    "store/journal-writer",
    "csv-parse",
    "csv-stringify",
    "p-limit",
    "node:crypto",
    "node:fs",
    "node:fs/promises",
    "node:path",
    "node:stream",
    "node:stream/promises",
  ],
  store: [
    "domain",
    "http/message",
    "signatures/verdict",
    "receiver/events",
    "sandbox/ledger",
    "sandbox/links",
    "conf",
    "env-paths",
    "zod/mini",
    "node:crypto",
    "node:fs",
    "node:module",
    "node:path",
    "node:util",
    "node:worker_threads",
  ],
  render: ["domain", "http/message", "uqr"],
  terminal: [
    "domain",
    "render",
    "context",
    "http/message",
    "http/exchange",
    "chalk",
    "@inquirer/prompts",
    "open",
    "node:child_process",
    "node:events",
    "node:fs",
    "node:fs/promises",
    "node:stream",
  ],
  context: ["http/exchange", "store", "render/paint"],
  compiled: ["node:fs", "node:module", "node:path", "node:vm"],
  entry: ["compiled", "main", "store/folders", "terminal/output", "node:fs", "node:path"],
  program: ["commands", "domain", "commander"],
};

/** Commands may import everything but each other, the network's own files and the terminal. */
const COMMANDS_MAY_NOT = [
  "http/send",
  "http/lazy-sender",
  "http/serve",
  "store/settings",
  "terminal",
  "main",
  "program",
  "undici",
];

/** What stands beside the commands and belongs to all of them. */
const COMMANDS_SHARE = [
  "commands/declare",
  "commands/misuse",
  "commands/account",
  "commands/stage",
  "commands/timeout",
];

interface Import {
  readonly file: string;
  readonly target: string;
}

const SOURCES = resolve(import.meta.dirname, "../src");

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));

/** `import … from "x"`, `export … from "x"`, `import "x"` and `import("x")`. */
const IMPORT = /(?:^import |^(?:import|export) [^"'`;=()]*from |\bimport\()"([^"]+)"/gm;

function importsOf(path: string, text: string): Import[] {
  const file = relative(SOURCES, path).replace(/\.ts$/, "");
  const specifiers = [...text.matchAll(IMPORT)].map(([, specifier = ""]) => specifier);
  return specifiers.map((specifier) => ({
    file,
    target: specifier.startsWith(".")
      ? relative(SOURCES, resolve(dirname(path), specifier)).replace(/\.ts$/, "")
      : specifier,
  }));
}

/** What is wrong with one import; undefined where it is allowed. */
function breach({ file, target }: Import): string | undefined {
  const [folder = ""] = file.split("/");
  const complaint = `${file} may not import ${target}`;
  if (file === "main") return undefined;
  if (folder === "commands") {
    const [, command] = file.split("/");
    const other = target.startsWith("commands/") && target.split("/")[1] !== command;
    if (other && !COMMANDS_SHARE.includes(target)) return complaint;
    return COMMANDS_MAY_NOT.some((name) => within(target, name)) ? complaint : undefined;
  }
  if (within(target, folder)) return undefined;
  return MAY_IMPORT[folder]?.some((name) => within(target, name)) ? undefined : complaint;
}

const within = (target: string, name: string): boolean => target === name || target.startsWith(`${name}/`);

/** Words that one place alone may use. */
const WORDS: readonly { word: RegExp; only: readonly string[] }[] = [
  { word: /\bconsole\b/, only: [] },
  { word: /\bprocess\.exit\b/, only: [] },
  { word: /\bprocess\.(?!env\b)/, only: ["main", "terminal"] },
  { word: /\bglobalThis\b/, only: [] },
  { word: /"undici"/, only: ["http/send"] },
  { word: /\bnew Date\(\)|\bDate\.now\b/, only: ["main"] },
  { word: /\brandomUUID\b|\brandomBytes\b|\brandomInt\b|\bMath\.random\b/, only: ["main"] },
  { word: /\bas any\b|: any\b/, only: [] },
];

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");

function wordBreaches(file: string, text: string): string[] {
  const code = withoutComments(text);
  return WORDS.filter(({ word, only }) => word.test(code) && !only.some((home) => within(file, home))).map(
    ({ word }) => `${file} may not say ${word.source}`,
  );
}

describe("the house", () => {
  const sources = files(SOURCES).map((path) => ({ path, text: readFileSync(path, "utf8") }));

  it("imports by its table", () => {
    const imports = sources.flatMap(({ path, text }) => importsOf(path, text));
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.flatMap((one) => breach(one) ?? [])).toEqual([]);
  });

  it("keeps each word in its home", () => {
    expect(
      sources.flatMap(({ path, text }) => wordBreaches(relative(SOURCES, path).replace(/\.ts$/, ""), text)),
    ).toEqual([]);
  });

  it("opens each file with a sentence", () => {
    expect(
      sources.filter(({ text }) => !/^\/\*\* [A-Z`]/.test(text)).map(({ path }) => relative(SOURCES, path)),
    ).toEqual([]);
  });

  it.each([
    ["receiver/receiver", 'import { createSandbox } from "../sandbox/sandbox.ts";'],
    ["domain/money", 'import { createSender } from "../http/send.ts";'],
    ["commands/pay/pay", 'import { demo } from "../demo/demo.ts";'],
    ["api/client", 'import { Agent } from "undici";'],
  ])("would notice %s saying %s", (file, text) => {
    expect(importsOf(join(SOURCES, `${file}.ts`), text).map(breach)).not.toContain(undefined);
  });

  it.each([
    ["receiver/receiver", "console.log(1)"],
    ["api/client", "process.exit(1)"],
    ["signatures/verify", "const now = Date.now();"],
  ])("would notice %s saying %s", (file, text) => {
    expect(wordBreaches(file, text)).not.toEqual([]);
  });
});
