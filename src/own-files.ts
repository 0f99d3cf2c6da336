/** The files of the program itself: beside its code, or in the single executable that `npm run binary` makes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getAsset, isSea } from "node:sea";
import type { WorkerOptions } from "node:worker_threads";

export const readOwnFile = (name: string): Buffer =>
  isSea() ? Buffer.from(getAsset(name)) : readFileSync(join(__dirname, name));

/** What `new Worker` takes to run one of the files. An executable has no files: its thread runs the text of the loader. */
export const threadOf = (name: string): { readonly program: string; readonly options: WorkerOptions } =>
  isSea()
    ? { program: getAsset("loader.cjs", "utf8"), options: { eval: true, argv: [name] } }
    : { program: join(__dirname, name), options: {} };
