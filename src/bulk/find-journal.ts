/** Finds the journal of a list: by the path it is read from, or by its content where it has another name now. */
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readHeading } from "../store/journal.ts";

/** One list at one service: elsewhere the same list is another matter. */
export function journalPath(folder: string, service: string, identity: string): string {
  const name = createHash("sha256").update(`${service}\n${identity}`).digest("hex").slice(0, NAME_LENGTH);
  return join(folder, `${name}${ENDING}`);
}

const NAME_LENGTH = 20;
const ENDING = ".journal";

export interface Namesake {
  readonly path: string;
  /** Where the list was read from then. */
  readonly input: string;
}

/** A journal of a list that asked for just the same when it was first sent to this service. */
export function journalOfContent(folder: string, service: string, content: string): Namesake | undefined {
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const heading = readHeading(path);
    if (heading?.service === service && heading.content === content) return { path, input: heading.input };
  }
  return undefined;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(ENDING));
  } catch {
    return [];
  }
}
