/** The list of a bulk run: its rows, the builder of their requests, and the reporter. */
import { join } from "node:path";
import { checkRows, type Checked } from "../../bulk/check-rows.ts";
import { requestOf, type BuildRequest } from "../../bulk/row.ts";
import { fileInput, openRows, spooledInput, type Input, type Rows } from "../../bulk/rows.ts";
import type { Context } from "../../context.ts";
import { hint, PaylinkError } from "../../domain/errors.ts";
import { rowsOf } from "../../render/bulk-progress.ts";
import { createReporter, type Reporter } from "./bulk-reporter.ts";
import type { BulkOptions } from "./options.ts";

export interface List {
  readonly input: Input;
  readonly rows: Rows;
  readonly build: BuildRequest;
  /** The service's time: durations such as `--expires 7d` count from it. */
  readonly now: () => Date;
  readonly reporter: Reporter;
}

/** Runs the work with the list open, and always closes it. */
export async function withList<T>(
  context: Context,
  { file, build, service }: BulkOptions,
  work: (list: List) => Promise<T>,
): Promise<T> {
  const input =
    file === "-"
      ? await spooledInput(context.stdin, memoryFolder(context), context.newId())
      : await fileInput(file);
  const reporter = createReporter(context);
  try {
    const rows = await openRows(input.open);
    // A run that sends nothing does not ask the service for its time either.
    const now = service === undefined ? context.now : await serviceClock(context);
    return await work({ input, rows, build, now, reporter });
  } finally {
    reporter.end();
    await input.close();
  }
}

/** The folder of what `bulk` remembers, and of copies of standard input. */
export const memoryFolder = ({ dataFolder }: Context): string => join(dataFolder, "bulk");

async function serviceClock({ now, serviceTime }: Context): Promise<() => Date> {
  const time = await serviceTime();
  if (!time.ofSandbox) return now;
  const ahead = time.now.getTime() - now().getTime();
  return () => new Date(now().getTime() + ahead);
}

export function checkList({ signal }: Context, { rows, build, now, reporter }: List): Promise<Checked> {
  return checkRows({ rows: rows.read(), build, now: now(), signal, checked: reporter.checked });
}

/** Names every invalid row; the error ends a run before anything is sent. */
export async function reportInvalid(
  { signal }: Context,
  { rows, build, now, reporter }: List,
  invalid: ReadonlySet<number>,
  total: number,
): Promise<PaylinkError> {
  for await (const row of rows.read()) {
    signal.throwIfAborted();
    if (invalid.has(row.index)) reporter.invalid(row, requestOf(row, build, now()).problems);
  }
  return new PaylinkError("usage", `${rowsOf(invalid.size)} of ${total} cannot be sent. Nothing was sent.`, {
    hints: [hint`Fix the rows named above, or send the others with --skip-invalid.`],
    details: { rows: total, invalid: invalid.size },
  });
}
