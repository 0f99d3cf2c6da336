/** The program's files with what V8 compiled of them: the same program with a cache and without, and nobody else's code. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLoader, type CompiledParts } from "../src/compiled.ts";
import { temporaryHome } from "./support/home.ts";

/** One of the program's files, as the build writes them. */
const file = (code: string): string =>
  `(function (exports, require, module, __filename, __dirname) {${code}\n})`;

function program(): CompiledParts {
  const home = temporaryHome();
  const folder = join(home, "program");
  mkdirSync(folder);
  const main = `const { twice } = require("./twice-1.js"); exports.answer = () => twice(require("node:path").sep.length + 20);`;
  writeFileSync(join(folder, "main-1.js"), file(main));
  writeFileSync(
    join(folder, "twice-1.js"),
    file("exports.loads = (exports.loads ?? 0) + 1; exports.twice = (x) => x * 2;"),
  );
  return {
    folder,
    require: createRequire(import.meta.url),
    cache: join(home, "cache"),
    owner: process.getuid?.(),
    engine: "test",
    writer: "1",
  };
}

function answer(parts: CompiledParts): unknown {
  const loader = createLoader(parts);
  const { answer: ask } = loader.load("main-1.js") as { answer: () => unknown };
  const said = ask();
  loader.keep();
  return said;
}

const kept = ({ cache = "" }: CompiledParts): string[] => readdirSync(cache).toSorted();
const written = ({ cache = "" }: CompiledParts): number[] =>
  readdirSync(cache).map((name) => statSync(join(cache, name)).ino);

describe("compiled code", () => {
  it("is kept for its owner alone, and taken up by the next run", () => {
    const parts = program();
    expect(answer(parts)).toBe(42);
    expect(kept(parts)).toEqual(["main-1.js.test", "twice-1.js.test"]);
    const modes = [parts.cache ?? "", join(parts.cache ?? "", "main-1.js.test")].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o600]);
    const before = written(parts);
    expect(answer(parts)).toBe(42);
    expect(written(parts)).toEqual(before);
  });

  it("is made anew where V8 does not take it", () => {
    const parts = program();
    // Not what an earlier load left there: within one process V8 remembers, and asks no file.
    mkdirSync(parts.cache ?? "", { mode: 0o700 });
    const path = join(parts.cache ?? "", "main-1.js.test");
    writeFileSync(path, "not compiled code");
    expect(answer(parts)).toBe(42);
    expect(readFileSync(path).length).toBeGreaterThan(100);
  });

  it("is kept for each engine, and forgotten with the file that it was made of", () => {
    const parts = program();
    answer(parts);
    writeFileSync(join(parts.cache ?? "", "main-0.js.test"), "an earlier version's");
    answer({ ...parts, engine: "other" });
    expect(kept(parts)).toEqual(["main-1.js.other", "main-1.js.test", "twice-1.js.other", "twice-1.js.test"]);
  });

  it.each([[0o750], [0o722]])("is neither read nor kept where others have access: %o", (mode) => {
    const parts = program();
    answer(parts);
    const before = written(parts);
    chmodSync(parts.cache ?? "", mode);
    writeFileSync(join(parts.cache ?? "", "main-1.js.test"), "not compiled code");
    expect(answer(parts)).toBe(42);
    expect(written(parts)).toEqual(before);
    expect(readFileSync(join(parts.cache ?? "", "main-1.js.test"), "utf8")).toBe("not compiled code");
  });

  it("is not taken from another owner's folder", () => {
    const parts = program();
    answer(parts);
    const before = written(parts);
    expect(answer({ ...parts, owner: 123_456, writer: "2" })).toBe(42);
    expect(written(parts)).toEqual(before);
  });

  it("is no condition: without a cache, and with one that cannot be kept, the program runs", () => {
    const parts = program();
    expect(answer({ ...parts, cache: undefined })).toBe(42);
    expect(answer({ ...parts, cache: join(parts.folder, "main-1.js", "cache") })).toBe(42);
  });

  it("runs each file once, whoever asks for it", () => {
    const loader = createLoader({ ...program(), cache: undefined });
    loader.load("main-1.js");
    expect(loader.load("twice-1.js")).toMatchObject({ loads: 1 });
    expect(loader.load("twice-1.js")).toBe(loader.load("twice-1.js"));
  });
});
