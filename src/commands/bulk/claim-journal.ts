/** Finds or begins the journal of a list, keeps it for this run alone, and checks the rows against it. */
import { checkRows, type Checked } from "../../bulk/check-rows.ts";
import type { OpenJournal } from "../../bulk/journals.ts";
import type { Ledger } from "../../bulk/row-ledger.ts";
import type { Context } from "../../context.ts";
import { safeText } from "../../render/safe-text.ts";
import { invalidRows, type List } from "./open-list.ts";
import type { BulkOptions } from "./options.ts";

/** An open journal, with the rows that its list has today. */
export interface Claim extends OpenJournal {
  readonly checked: Checked;
  /** Rows that had their link before this run. */
  readonly earlier: number;
}

export interface SendOptions extends BulkOptions {
  readonly service: string;
}

/** A list is recognised by its path, or by its content if it was only renamed. */
export async function claimJournal(context: Context, list: List, options: SendOptions): Promise<Claim> {
  const { input } = list;
  const { service } = options;
  const journals = await context.journals();
  const claim = async (path: string): Promise<Claim> => {
    const journal = journals.open(path);
    try {
      const checked = await check(context, list, options, journal.ledger);
      return { ...journal, checked, earlier: journal.ledger.countCreated() };
    } catch (error) {
      await journal.close();
      throw error;
    }
  };
  const known = input.path === "-" ? undefined : journals.ofFile(service, input.path);
  if (known !== undefined) return claim(known);
  const checked = await check(context, list, options);
  const renamed = journals.ofContent(service, checked.content);
  if (renamed !== undefined) {
    const name = renamed.input === "-" ? "standard input" : safeText(renamed.input);
    context.out.note(`This list was sent before, from ${name}. The run continues where that one ended.`);
    return claim(renamed.path);
  }
  if (checked.invalid.size > 0 && !options.skipInvalid) throw invalidRows(checked);
  const begun = context.now().toISOString();
  const journal = journals.begin({ service, input: input.path, content: checked.content, begun });
  return { ...journal, checked, earlier: 0 };
}

function check(
  { now, signal }: Context,
  { rows, build, reporter }: List,
  { retryUnknown }: BulkOptions,
  ledger?: Ledger,
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
