/** Finds the journal of a list, takes it for this run alone, and checks the rows against what it tells. */
import { checkRows, type Checked } from "../../bulk/check.ts";
import { journalOfContent, journalPath } from "../../bulk/journals.ts";
import { Ledger } from "../../bulk/ledger.ts";
import type { Context } from "../../context.ts";
import { beginJournal, readHeading } from "../../store/journal/journal.ts";
import { takeLock } from "../../store/journal/run-lock.ts";
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
  if (path !== undefined && readHeading(path) !== undefined) return claimKnown(path, list, flags, context);
  const checked = await check(list, undefined, flags, context);
  const namesake = journalOfContent(folder, service, checked.content);
  if (namesake !== undefined) {
    const name = namesake.input === "-" ? "standard input" : namesake.input;
    context.out.note(`The same list was sent before, from ${name}: this run goes on where that one ended.`);
    return claimKnown(namesake.path, list, flags, context);
  }
  if (checked.invalid.size > 0 && flags.skipInvalid !== true) throw badRows(checked);
  const fresh = path ?? journalPath(folder, service, checked.content);
  const heading = {
    service,
    input: input.path,
    content: checked.content,
    begun: context.now().toISOString(),
  };
  const opened = openLedger(fresh, context, () => {
    if (readHeading(fresh) === undefined) beginJournal(fresh, heading);
  });
  return { ...opened, journal: fresh, checked, earlier: 0 };
}

/** Takes the lock of a journal and opens it; releases the lock if that fails. */
function openLedger(
  path: string,
  { processes }: Context,
  begin: () => void = () => undefined,
): Pick<Claim, "ledger" | "release"> {
  const unlock = takeLock(`${path}.lock`, processes);
  try {
    begin();
    const ledger = new Ledger(path);
    ledger.open();
    return { ledger, release: () => ledger.close().finally(unlock) };
  } catch (error) {
    unlock();
    throw error;
  }
}

async function claimKnown(path: string, list: List, flags: BulkFlags, context: Context): Promise<Claim> {
  const { ledger, release } = openLedger(path, context);
  try {
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
