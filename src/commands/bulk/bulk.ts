/** `paylink bulk`: checks every row of a list, then sends each that is due, exactly once, and writes the results. */
import { checkRows } from "../../bulk/check-rows.ts";
import type { Context } from "../../context.ts";
import { rowsOf } from "../../render/bulk-progress.ts";
import { invalidRows, withList, type List } from "./open-list.ts";
import type { BulkOptions } from "./options.ts";
import { sendList } from "./send-list.ts";

export async function bulk(context: Context, options: BulkOptions): Promise<number> {
  context.out.streamWarnings();
  const { service } = options;
  return withList(context, options, (list) =>
    service === undefined ? checkList(context, list) : sendList(context, list, { ...options, service }),
  );
}

/** `--dry-run`. */
async function checkList({ out, now, signal }: Context, list: List): Promise<number> {
  const { rows, build, reporter } = list;
  const checked = await checkRows({
    rows: rows.read(),
    build,
    now: now(),
    signal,
    isDone: () => false,
    checked: reporter.checked,
  });
  reporter.end();
  reporter.columns(checked);
  reporter.warnings(checked.warnings);
  const total = checked.asks.length;
  const invalid = checked.invalid.size;
  const { warnings } = checked;
  if (out.json) out.data(JSON.stringify({ type: "summary", rows: total, invalid, warnings }));
  if (invalid > 0) throw invalidRows(checked);
  if (!out.json) out.data(`${rowsOf(total)}, all valid. Nothing was sent.`);
  return 0;
}
