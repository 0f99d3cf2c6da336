/** Finds the journal of a list, takes it for this run alone, and checks the rows against what it tells. */
import { existsSync } from "node:fs";
import { checkRows, type Checked } from "../../bulk/check-rows.ts";
import { journalOfContent, journalPath } from "../../bulk/find-journal.ts";
import { Ledger } from "../../bulk/row-ledger.ts";
import type { Context } from "../../context.ts";
import { beginJournal, readHeading } from "../../store/journal.ts";
import { takeLock } from "../../store/run-lock.ts";
import type { BulkFlags } from "./command.ts";
import { badRows, type Claim, type List, type SendParts } from "./list.ts";

/** A list is known by its path; one that has no journal there, by its content, since it may only have been renamed. */
export async function claimJournal(
  list: List,
  service: string,
  { folder, flags }: SendParts,
  context: Context,
): Promise<Claim> {
  const { input } = list;
  const path = input.path === "-" ? undefined : journalPath(folder, service, input.path);
  if (path !== undefined && existsSync(path)) return claimKnown(path, list, flags, context);
  const checked = await check(list, undefined, flags, context);
  const namesake = journalOfContent(folder, service, checked.content);
  if (namesake !== undefined) {
    const name = namesake.input === "-" ? "standard input" : namesake.input;
    context.out.note(`The same list was sent before, from ${name}: this run goes on where that one ended.`);
    return claimKnown(namesake.path, list, flags, context);
  }
  if (checked.invalid.size > 0 && flags.skipInvalid !== true) throw badRows(checked);
  const fresh = path ?? journalPath(folder, service, checked.content);
  const release = takeLock(`${fresh}.lock`, context.processes);
  const ledger = new Ledger(fresh);
  if (readHeading(fresh) === undefined)
    beginJournal(fresh, {
      service,
      input: input.path,
      content: checked.content,
      begun: context.now().toISOString(),
    });
  ledger.open();
  return { ledger, journal: fresh, checked, earlier: 0, release: () => ledger.close().finally(release) };
}

async function claimKnown(path: string, list: List, flags: BulkFlags, context: Context): Promise<Claim> {
  const unlock = takeLock(`${path}.lock`, context.processes);
  const ledger = new Ledger(path);
  const release = (): Promise<void> => ledger.close().finally(unlock);
  try {
    ledger.open();
    const checked = await check(list, ledger, flags, context);
    return { ledger, journal: path, checked, earlier: ledger.countCreated(), release };
  } catch (error) {
    await release();
    throw error;
  }
}

function check(
  { rows, build, reporter }: List,
  ledger: Ledger | undefined,
  { retryUnknown = false }: BulkFlags,
  { now, signal }: Context,
): Promise<Checked> {
  return checkRows({
    rows: rows.read(),
    build,
    now: now(),
    signal,
    isDone: (index) => ledger?.isDone(index, retryUnknown) ?? false,
    checked: reporter.checked,
  });
}
