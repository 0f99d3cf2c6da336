/**
 * The mark of a store, in a file beside it or on this machine: which store it is, and the number of the last thing in it. By it, a
 * store that is gone, was replaced, or has lost its last rows is told from one that never had any.
 */
import { existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { systemReason } from "../values/system-reason.ts";
import { makeFolder } from "./folders.ts";

export interface Mark {
  /** The identity of the store: no other one has it. */
  readonly store: string;
  /** It only grows. */
  readonly last: number;
}

/** The mark in a file, with the place of its store. Undefined without one that can be read. */
export function readMark(path: string): (Mark & { readonly place: string }) | undefined {
  try {
    const [, store = "", last = "", place = ""] =
      /^(\S+) (\d{16})\n(.*)\n/.exec(readFileSync(path, "utf8")) ?? [];
    return store === "" ? undefined : { store, last: Number(last), place };
  } catch {
    return undefined;
  }
}

/** What has become of a store since it was marked; undefined if nothing has. `found` is undefined for one without its tables. */
export function lossOf(
  mark: Mark | undefined,
  found: Mark | undefined,
): "gone" | "replaced" | "older" | undefined {
  if (mark === undefined) return undefined;
  if (found === undefined) return "gone";
  if (found.store !== mark.store) return "replaced";
  return found.last < mark.last ? "older" : undefined;
}

/**
 * Writes the mark of the store at a place whenever it is called, and gives why it could not, in words. Nothing is synced: after a
 * power cut it may be an older mark, which asks for less.
 */
export function createMarking(path: string, place: string): (mark: Mark) => string | undefined {
  let file: number | undefined;
  let written = "";
  return ({ store, last }) => {
    const text = `${store} ${String(last).padStart(16, "0")}\n${place}\n`;
    if (text === written) return undefined;
    try {
      file ??= openToWrite(path);
      // Of one length, in place: a power cut leaves the one mark or the other.
      writeSync(file, text, 0);
      written = text;
      return undefined;
    } catch (error) {
      return systemReason(error);
    }
  };
}

function openToWrite(path: string): number {
  makeFolder(dirname(path));
  return openSync(path, existsSync(path) ? "r+" : "w", 0o600);
}
