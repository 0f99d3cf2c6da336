/** The marks that `bulk` leaves on this machine of the databases it sends lists with: which database it was, and whether it has rows. */
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemReason } from "../domain/system-reason.ts";
import { replaceFile } from "../store/replace-file.ts";

export interface DatabaseMark {
  /** The identity of the store in it: no other one has it. */
  readonly identity: string;
  /** The URL of the database without its password. */
  readonly place: string;
  readonly hasSent: boolean;
}

/** The last line of a mark, once rows were sent. */
const SENT = "Rows were sent.";

/** Where the mark of a database is. */
export const markPath = (folder: string, place: string): string =>
  join(folder, `${hash("sha256", place).slice(0, 16)}.mark`);

export function readMark(path: string): DatabaseMark | undefined {
  if (!existsSync(path)) return undefined;
  const [identity = "", place = "", ...lines] = readFileSync(path, "utf8").split("\n");
  return { identity, place, hasSent: lines.includes(SENT) };
}

/** Why it could not be written, in words; undefined if it was. */
export function writeMark(path: string, { identity, place, hasSent }: DatabaseMark): string | undefined {
  try {
    replaceFile(path, `${[identity, place, ...(hasSent ? [SENT] : [])].join("\n")}\n`);
    return undefined;
  } catch (error) {
    return systemReason(error);
  }
}

/** The databases that rows were sent with from this machine. */
export function markedDatabases(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name) => {
    const mark = /^[0-9a-f]{16}\.mark$/.test(name) ? readMark(join(folder, name)) : undefined;
    return mark?.hasSent === true ? mark.place : [];
  });
}
