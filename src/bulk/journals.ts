/** The journals of bulk runs on this machine: lists those of a service, and opens each for one run at a time. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beginJournal, readHeading, type Heading } from "../store/journal/journal.ts";
import { lockHolder, takeLock, type Processes } from "../store/journal/run-lock.ts";
import type { NumberList } from "./number-list.ts";
import { declarations } from "./declarations.ts";
import { Ledger } from "./row-ledger.ts";

/** A journal as it is on disk. */
export interface PastJournal extends Omit<Heading, "paylink"> {
  readonly path: string;
  /** The process that is writing to it. */
  readonly runner: number | undefined;
  /** The rows and their outcomes, read anew. */
  readonly read: () => Ledger;
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
  /** The journals of lists that were sent to this service, the latest first. */
  readonly ofService: (service: string) => readonly PastJournal[];
  readonly open: (path: string) => OpenJournal;
  /** Opens a new journal with the digests of its rows. */
  readonly begin: (id: string, heading: Omit<Heading, "paylink">, asks: NumberList) => OpenJournal;
}

const ENDING = ".journal";

export function openJournals(folder: string, processes: Processes): Journals {
  const lockOf = (path: string): string => `${path}.lock`;
  const open = (path: string, begin: () => void = () => undefined): OpenJournal => {
    const unlock = takeLock(lockOf(path), processes);
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
    ofService: (service) =>
      namesIn(folder)
        .flatMap((name) => {
          const path = join(folder, name);
          const heading = readHeading(path);
          if (heading?.service !== service) return [];
          const read = (): Ledger => readLedger(path);
          return [{ ...heading, path, runner: lockHolder(lockOf(path), processes), read }];
        })
        .toSorted((one, other) => other.begun.localeCompare(one.begun)),
    open: (path) => open(path),
    begin: (id, heading, asks) => {
      const path = join(folder, `${id}${ENDING}`);
      const journal = open(path, () => beginJournal(path, heading, declarations(asks)));
      const close = async (): Promise<void> => {
        // The next run does not need a journal without a sent row.
        if (!journal.ledger.isBinding()) rmSync(path, { force: true });
        await journal.close();
      };
      return { ...journal, close };
    },
  };
}

function readLedger(path: string): Ledger {
  const ledger = new Ledger(path);
  ledger.read();
  return ledger;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(ENDING));
  } catch {
    return [];
  }
}
