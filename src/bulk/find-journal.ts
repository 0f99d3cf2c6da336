/** Finds the journal of a list by the path of the list, or by its content after the file was renamed. */
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readHeading } from "../store/journal.ts";

/** One journal for each list and service. */
export function journalPath(folder: string, service: string, identity: string): string {
  const name = createHash("sha256").update(`${service}\n${identity}`).digest("hex").slice(0, NAME_LENGTH);
  return join(folder, `${name}${ENDING}`);
}

const NAME_LENGTH = 20;
const ENDING = ".journal";

export interface Namesake {
  readonly path: string;
  /** The path of the list at that time. */
  readonly input: string;
}

/** The journal of a list with the same content that was sent to this service. */
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
