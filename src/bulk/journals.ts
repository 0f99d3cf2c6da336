/** The journals of bulk runs on this machine: finds the journal of a list, and opens it for one run at a time. */
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beginJournal, readHeading, type Heading } from "../store/journal/journal.ts";
import { takeLock, type Processes } from "../store/journal/run-lock.ts";
import { Ledger } from "./row-ledger.ts";

export interface EarlierJournal {
  readonly path: string;
  /** Where the list was read from at that time. */
  readonly input: string;
}

export interface OpenJournal {
  readonly path: string;
  readonly ledger: Ledger;
  /** Resolves when everything is on disk, and the next run may open the journal. */
  readonly close: () => Promise<void>;
}

/** Each throws `file_unreadable` for a damaged journal, and `already_running` while another run has it open. */
export interface Journals {
  /** The folder of the journals, and of copies of standard input while a run reads them. */
  readonly folder: string;
  /** The journal of the list at this path. */
  readonly ofFile: (service: string, input: string) => string | undefined;
  /** The journal of a list that had the same rows when it was first sent to this service. */
  readonly ofContent: (service: string, content: string) => EarlierJournal | undefined;
  readonly open: (path: string) => OpenJournal;
  /** Opens the journal of a list that has none yet. */
  readonly begin: (heading: Omit<Heading, "paylink">) => OpenJournal;
}

export function openJournals(folder: string, processes: Processes): Journals {
  const open = (path: string, begin: () => void = () => undefined): OpenJournal => {
    const unlock = takeLock(`${path}.lock`, processes);
    try {
      begin();
      const ledger = new Ledger(path);
      ledger.open();
      return { path, ledger, close: () => ledger.close().finally(unlock) };
    } catch (error) {
      unlock();
      throw error;
    }
  };
  return {
    folder,
    ofFile: (service, input) => {
      const path = journalPath(folder, service, input);
      return readHeading(path) === undefined ? undefined : path;
    },
    ofContent: (service, content) => journalOfContent(folder, service, content),
    open: (path) => open(path),
    begin: (heading) => {
      const { service, input, content } = heading;
      const path = journalPath(folder, service, input === "-" ? content : input);
      return open(path, () => {
        // Another run may have begun it before this one took the lock.
        if (readHeading(path) === undefined) beginJournal(path, heading);
      });
    },
  };
}

/** The same list at another service has another journal. */
function journalPath(folder: string, service: string, identity: string): string {
  const name = createHash("sha256").update(`${service}\n${identity}`).digest("hex").slice(0, NAME_LENGTH);
  return join(folder, `${name}${ENDING}`);
}

const NAME_LENGTH = 20;
const ENDING = ".journal";

function journalOfContent(folder: string, service: string, content: string): EarlierJournal | undefined {
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
