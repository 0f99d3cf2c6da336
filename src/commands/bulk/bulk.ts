/** `paylink bulk`: checks every row of a list, then sends each that is due, exactly once, and writes the results. */
import { unsentColumns } from "../../bulk/check-rows.ts";
import type { Context } from "../../context.ts";
import { rowsOf } from "../../render/bulk-progress.ts";
import { checkList, reportInvalid, withList, type List } from "./list.ts";
import type { BulkOptions } from "./options.ts";
import { sendList } from "./send-list.ts";

export async function bulk(context: Context, options: BulkOptions): Promise<number> {
  context.out.streamWarnings();
  const { service } = options;
  return withList(context, options, (list) =>
    service === undefined ? dryRun(context, list) : sendList(context, list, { ...options, service }),
  );
}

async function dryRun(context: Context, list: List): Promise<number> {
  const { out } = context;
  const { reporter } = list;
  const checked = await checkList(context, list);
  const { digests, invalid, warnings } = checked;
  const rows = digests.length;
  const failure = invalid.size > 0 ? await reportInvalid(context, list, invalid, rows) : undefined;
  reporter.end();
  reporter.columns(checked);
  reporter.warnings(warnings);
  const unsent_columns = unsentColumns(checked);
  const summary = { type: "summary", rows, invalid: invalid.size, unsent_columns, warnings };
  if (out.json) out.data(JSON.stringify(summary));
  if (failure !== undefined) throw failure;
  if (!out.json) out.data(`${rowsOf(rows)}, all valid. Nothing was sent.`);
  return 0;
}
