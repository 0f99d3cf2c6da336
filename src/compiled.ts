/** Loads the built program's files with what V8 compiled of them in an earlier run, which most of a start would go into. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";

export interface CompiledParts {
  /**
   * Where the program's files are, each a function of what CommonJS knows of a module, in ASCII. The name of each must
   * change with its content: V8 compares nothing but lengths.
   */
  readonly folder: string;
  /** Gives what is not among them. */
  readonly require: Require;
  /** Where the compiled code is kept; undefined keeps none. It is run as it stands, so the folder must be private. */
  readonly cache: string | undefined;
  /** The owner that the cache must have; undefined where the platform has none. */
  readonly owner: number | undefined;
  /** What compiled code is good for: the version of Node and the processor. */
  readonly engine: string;
  /** Keeps what two runs write at once apart. */
  readonly writer: string;
}

export interface Loader {
  /** The exports of one of the program's files. */
  readonly load: (name: string) => unknown;
  /** Keeps for the next run what this one had to compile. */
  readonly keep: () => void;
}

type Require = (id: string) => unknown;
type Wrapped = (exports: object, require: Require, module: object, filename: string, folder: string) => void;

export function createLoader(parts: CompiledParts): Loader {
  const { folder, engine } = parts;
  const cache = parts.cache !== undefined && isPrivate(parts.cache, parts.owner) ? parts.cache : undefined;
  const loaded = new Map<string, { exports: object }>();
  const fresh = new Map<string, Script>();
  const load = (name: string): unknown => {
    const before = loaded.get(name);
    if (before !== undefined) return before.exports;
    const module = { exports: {} };
    loaded.set(name, module);
    const filename = join(folder, name);
    const cachedData = cache === undefined ? undefined : readIfThere(join(cache, keptName(name, engine)));
    const script = new Script(readFileSync(filename, "latin1"), {
      filename,
      ...(cachedData === undefined ? {} : { cachedData }),
    });
    if (script.cachedDataRejected !== false) fresh.set(name, script);
    const run: Wrapped = script.runInThisContext();
    const require: Require = (id) => (id.startsWith("./") ? load(id.slice(2)) : parts.require(id));
    run.call(module.exports, module.exports, require, module, filename, folder);
    return module.exports;
  };
  return {
    load,
    keep: () => {
      if (parts.cache === undefined || fresh.size === 0) return;
      try {
        keepCompiled(fresh, parts, parts.cache);
      } catch {
        // A cache that cannot be kept costs time, and nothing else.
      }
    },
  };
}

const keptName = (name: string, engine: string): string => `${name}.${engine}`;

/** Each file is whole or not there, whatever happens meanwhile: V8 does not notice what is broken inside. */
function keepCompiled(scripts: ReadonlyMap<string, Script>, parts: CompiledParts, cache: string): void {
  const { folder, owner, engine, writer } = parts;
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  if (!isPrivate(cache, owner)) return;
  for (const [name, script] of scripts) {
    const path = join(cache, keptName(name, engine));
    writeFileSync(`${path}.${writer}`, script.createCachedData(), { mode: 0o600, flush: true });
    renameSync(`${path}.${writer}`, path);
  }
  const present = readdirSync(folder);
  for (const kept of readdirSync(cache))
    if (!present.some((name) => kept.startsWith(`${name}.`))) rmSync(join(cache, kept), { force: true });
}

/** Whether it is there, and nobody but the owner can have put anything into it. */
function isPrivate(folder: string, owner: number | undefined): boolean {
  try {
    const stat = statSync(folder);
    return stat.isDirectory() && (owner === undefined || (stat.uid === owner && (stat.mode & 0o077) === 0));
  } catch {
    return false;
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
