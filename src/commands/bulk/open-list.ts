/** Opens the list of a bulk run: its rows, the requests they become, and who reports on them. */
import type { Checked } from "../../bulk/check-rows.ts";
import { fileInput, spooledInput, type Input } from "../../bulk/input.ts";
import type { BuildRequest } from "../../bulk/row-request.ts";
import { openRows, type Rows } from "../../bulk/rows.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { rowsOf } from "../../render/bulk-progress.ts";
import { createReporter, type Reporter } from "./bulk-reporter.ts";
import type { BulkOptions } from "./options.ts";

export interface List {
  readonly input: Input;
  readonly rows: Rows;
  readonly build: BuildRequest;
  readonly reporter: Reporter;
}

/** Runs the work with the list open, and closes it whatever happens. */
export async function withList<T>(
  context: Context,
  { file, build }: BulkOptions,
  work: (list: List) => Promise<T>,
): Promise<T> {
  const input = await openInput(context, file);
  const reporter = createReporter(context);
  try {
    return await work({ input, rows: await openRows(input.open), build, reporter });
  } finally {
    reporter.end();
    await input.close();
  }
}

async function openInput({ stdin, newId, journals }: Context, file: string): Promise<Input> {
  if (file !== "-") return fileInput(file);
  const { folder } = await journals();
  return spooledInput(stdin, folder, newId());
}

/** The error that ends a run with invalid rows before anything is sent. */
export function invalidRows({ asks, invalid }: Checked): PaylinkError {
  return new PaylinkError(
    "usage",
    `${rowsOf(invalid.size)} of ${asks.length} cannot be sent. Nothing was sent.`,
    {
      hint: "Fix the rows named above, or send the others with --skip-invalid.",
      details: { rows: asks.length, invalid: invalid.size },
    },
  );
}
