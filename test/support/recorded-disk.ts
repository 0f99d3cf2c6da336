/** What programs do to the files of a folder, as strace records it, and what a disk may hold of them after a power cut at any moment. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Readable } from "node:stream";
import { GIVEN_ENVIRONMENT } from "./given-environment.ts";
import { BINARY } from "./paylink.ts";

/** One thing that happened, in order. */
export type RecordedStep = FileStep | SocketStep;

interface SocketStep {
  readonly type: "receive" | "send";
  readonly socket: string;
  readonly bytes: Buffer;
}

type ContentStep =
  | { readonly type: "write"; readonly path: string; readonly at: number; readonly bytes: Buffer }
  | { readonly type: "truncate"; readonly path: string; readonly size: number };

type FileStep =
  | ContentStep
  | { readonly type: "create" | "make folder" | "remove"; readonly path: string }
  | { readonly type: "rename"; readonly path: string; readonly to: string }
  /** A file or a folder is on the disk as it was at the step `from`, when the sync began. */
  | { readonly type: "sync"; readonly path: string; readonly from: number };

/** The system calls that are read. With `-y`, strace names the file of each descriptor. */
const CALLS =
  "openat,mkdir,read,write,writev,pwrite64,pwritev,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat";

/** Starts a program that strace records into a file; `kill` ends the program, after which strace has written all. */
export function startRecorded(
  trace: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): {
  readonly child: ChildProcessByStdio<null, Readable, null>;
  readonly kill: (signal: NodeJS.Signals) => void;
} {
  const strace = ["-f", "-y", "-xx", "-s", "1000000", "-e", `trace=${CALLS}`, "-o", trace];
  const child = spawn("strace", [...strace, process.execPath, BINARY, ...args], {
    env: { ...GIVEN_ENVIRONMENT, TZ: "UTC", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return {
    child,
    kill: (signal) => {
      const traced = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ");
      for (const pid of traced) process.kill(Number(pid), signal);
    },
  };
}

const bytesIn = (text: string): Buffer =>
  Buffer.concat(
    [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = ""]) =>
      Buffer.from(hex.replaceAll("\\x", ""), "hex"),
    ),
  );

interface Call {
  readonly thread: string;
  readonly name: string;
  /** Its arguments, and its result if it has ended. */
  readonly text: string;
  readonly isBegin: boolean;
  readonly isEnd: boolean;
}

/** A call that waits is written on two lines, with those of other threads between. */
function* callsIn(trace: string): Generator<Call> {
  const begun = new Map<string, string>();
  for (const line of trace.split("\n")) {
    const [, thread = "", rest = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    const isEnd = !rest.endsWith("<unfinished ...>");
    const own = resumed ?? rest.replace(/ *<unfinished \.\.\.>$/, "");
    const text = resumed === undefined ? own : `${begun.get(thread) ?? ""}${own}`;
    if (!isEnd) begun.set(thread, text);
    const name = /^(\w+)\(/.exec(text)?.[1];
    if (name !== undefined) yield { thread, name, text, isBegin: resumed === undefined, isEnd };
  }
}

/**
 * What one run after another did to the files in a folder, which was empty before, and on sockets. Files that `isLeftOut` names
 * are left out.
 */
export function stepsOf(
  traces: readonly string[],
  folder: string,
  isLeftOut: (path: string) => boolean = () => false,
): RecordedStep[] {
  const steps: RecordedStep[] = [];
  const syncs = new Map<string, number>();
  const positions = new Map<string, number>();
  const present = new Set<string>();
  const isRecorded = (path: string): boolean =>
    (path === folder || path.startsWith(`${folder}/`)) && !isLeftOut(path);
  for (const { thread, name, text, isBegin, isEnd } of callsIn(traces.join(""))) {
    const isSuccess = isEnd && / = \d/.test(text);
    const [, number = "", place = ""] = /^\w+\((\d+)<([^>]*)>/.exec(text) ?? [];
    const named = place.startsWith("\\x")
      ? Buffer.from(place.replaceAll("\\x", ""), "hex").toString()
      : place;
    // Those of the `*at` calls are absolute too.
    const [path = "", to = ""] = [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = ""]) =>
      Buffer.from(hex.replaceAll("\\x", ""), "hex").toString(),
    );
    if (name === "openat" && isSuccess) {
      const descriptor = / = (\d+)/.exec(text)?.[1] ?? "";
      positions.set(descriptor, 0);
      if (!isRecorded(path) || !/O_CREAT|O_TRUNC/.test(text)) continue;
      if (!present.has(path)) steps.push({ type: "create", path });
      else if (text.includes("O_TRUNC")) steps.push({ type: "truncate", path, size: 0 });
      present.add(path);
    } else if (name === "mkdir" && isSuccess && isRecorded(path)) steps.push({ type: "make folder", path });
    else if (name.startsWith("unlink") && isSuccess && isRecorded(path)) {
      steps.push({ type: "remove", path });
      present.delete(path);
    } else if (name.startsWith("rename") && isSuccess && isRecorded(path)) {
      steps.push({ type: "rename", path, to });
      present.delete(path);
      present.add(to);
    } else if (named.startsWith("socket:")) {
      if (name === "read" && isSuccess) steps.push({ type: "receive", socket: named, bytes: bytesIn(text) });
      // It may have arrived as soon as the call has begun.
      if (name.startsWith("write") && isBegin)
        steps.push({ type: "send", socket: named, bytes: bytesIn(text) });
    } else if (isRecorded(named)) {
      if (name.startsWith("pwrite") && isBegin) {
        const at = Number(/, (\d+)\)?(?: += \d+)?$/.exec(text)?.[1]);
        steps.push({ type: "write", path: named, at, bytes: bytesIn(text) });
      } else if (name.startsWith("write") && isBegin) {
        const at = positions.get(number) ?? 0;
        const bytes = bytesIn(text);
        positions.set(number, at + bytes.length);
        steps.push({ type: "write", path: named, at, bytes });
      } else if (name === "ftruncate" && isBegin)
        steps.push({ type: "truncate", path: named, size: Number(/, (\d+)/.exec(text)?.[1]) });
      else if (name.endsWith("sync")) {
        // What is written while a sync runs may be on the disk after it, or not.
        if (isBegin) syncs.set(thread, steps.length);
        if (isSuccess) steps.push({ type: "sync", path: named, from: syncs.get(thread) ?? 0 });
      }
    }
  }
  return steps;
}

/** How a disk treats what was not synced: loses it, keeps it, or keeps some of it, in any order, down to its sectors. */
export const FATES = ["lost", "kept", "some", "torn"] as const;
export type Fate = (typeof FATES)[number];

const SECTOR = 512;

interface Change {
  /** The step that made it. */
  readonly index: number;
}

/** A file or a folder, whatever its name. */
class RecordedFile {
  readonly changes: (Change & { readonly step: ContentStep })[] = [];
  /** The changes before this step are on the disk. */
  syncedUntil = 0;
}

/** A name that a file gets, or loses. */
interface NameChange extends Change {
  readonly path: string;
  readonly file: RecordedFile | undefined;
  /** The folders whose sync brings it to the disk. */
  readonly folders: readonly string[];
}

/** The files as a disk may hold them if the power fails before the step at `cut`, by their paths. */
export function filesAt(
  steps: readonly RecordedStep[],
  cut: number,
  fate: Fate,
  random: () => number,
): ReadonlyMap<string, Buffer> {
  const seen = new Map<string, RecordedFile>();
  const names: NameChange[] = [];
  const folders = new Map<string, number>();
  for (const [index, step] of steps.slice(0, cut).entries()) {
    if ("socket" in step) continue;
    const { path } = step;
    const file = seen.get(path);
    switch (step.type) {
      case "create":
      case "make folder": {
        const made = new RecordedFile();
        seen.set(path, made);
        names.push({ index, path, file: made, folders: [dirname(path)] });
        break;
      }
      case "remove":
        seen.delete(path);
        names.push({ index, path, file: undefined, folders: [dirname(path)] });
        break;
      case "rename": {
        if (file === undefined) break;
        seen.delete(path);
        seen.set(step.to, file);
        const both = { index, folders: [dirname(path), dirname(step.to)] };
        names.push({ ...both, path: step.to, file }, { ...both, path, file: undefined });
        break;
      }
      case "sync":
        folders.set(path, step.from);
        if (file !== undefined) file.syncedUntil = step.from;
        break;
      case "write":
      case "truncate":
        file?.changes.push({ index, step });
    }
  }
  const isLucky = (): boolean => fate === "kept" || fate === "torn" || (fate === "some" && random() < 0.5);
  const found = new Map<string, RecordedFile>();
  let last = { index: -1, isKept: false };
  for (const { index, path, file, folders: of } of names) {
    // Both names of a renamed file change at once.
    if (last.index !== index)
      last = { index, isKept: of.some((folder) => index < (folders.get(folder) ?? 0)) || isLucky() };
    if (!last.isKept) continue;
    if (file === undefined) found.delete(path);
    else found.set(path, file);
  }
  const made = new Set(steps.flatMap((step) => (step.type === "make folder" ? [step.path] : [])));
  const isReached = (path: string): boolean =>
    path === "/" || ((!made.has(path) || found.has(path)) && isReached(dirname(path)));
  return new Map(
    [...found].flatMap(([path, file]) =>
      made.has(path) || !isReached(dirname(path)) ? [] : [[path, contentOf(file, fate, random, isLucky)]],
    ),
  );
}

function contentOf(
  { changes, syncedUntil }: RecordedFile,
  fate: Fate,
  random: () => number,
  isLucky: () => boolean,
): Buffer {
  let size = 0;
  let content = Buffer.alloc(0);
  const reserve = (needed: number): void => {
    if (needed > content.length) content = Buffer.concat([content], Math.max(needed, 2 * content.length));
  };
  for (const { index, step } of changes) {
    const isSynced = index < syncedUntil;
    if (!isSynced && !isLucky()) continue;
    if (step.type === "truncate") {
      reserve(step.size);
      if (step.size < size) content.fill(0, step.size, size);
      size = step.size;
    } else {
      const { at, bytes } = step;
      reserve(at + bytes.length);
      size = Math.max(size, at + bytes.length);
      if (isSynced || fate !== "torn") bytes.copy(content, at);
      else
        for (let from = 0; from < bytes.length;) {
          // Sectors are those of the file, not of the write.
          const to = Math.min(bytes.length, from + SECTOR - ((at + from) % SECTOR));
          if (random() < 0.5) bytes.copy(content, at + from, from, to);
          from = to;
        }
    }
  }
  return content.subarray(0, size);
}

/** Writes such files, whose paths are in `from`, into the folder `to`. */
export function putFiles(files: ReadonlyMap<string, Buffer>, from: string, to: string): void {
  for (const [path, bytes] of files) {
    const target = join(to, relative(from, path));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
  }
}
