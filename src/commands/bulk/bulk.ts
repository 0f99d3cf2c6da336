/** `paylink bulk`: checks every row of a list, then sends each that is due, exactly once, and writes the results. */
import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { noAccount } from "../../api/client-from-settings.ts";
import { checkRows } from "../../bulk/check-rows.ts";
import { fileInput, spooledInput, type Input } from "../../bulk/input.ts";
import { openRows, type Rows } from "../../bulk/rows.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { rowsOf } from "../../render/bulk-progress.ts";
import { readBaseRequest } from "../../requests/base-request.ts";
import { requestBuilder } from "../../requests/build.ts";
import { settingsInForce } from "../../store/in-force.ts";
import type { BulkFlags } from "./command.ts";
import { badRows, noteUnsent, noteWarnings, type List } from "./list.ts";
import { bulkOptions, defaultOutput } from "./options.ts";
import { createReporter } from "./reporter.ts";
import { sendList } from "./send-list.ts";

export async function bulk(context: Context, file: string, flags: BulkFlags): Promise<void> {
  const options = bulkOptions(file, flags);
  const settings = await settingsInForce(context);
  if (flags.dryRun !== true && settings.get("baseUrl") === undefined) throw noAccount();
  const base = flags.from === undefined ? undefined : await readBaseRequest(flags.from, context.readFile);
  if (base !== undefined && base.problems.length > 0)
    throw new PaylinkError("usage", "Nothing was sent.", { problems: base.problems });
  const build = requestBuilder({ flags, base: base?.value, settings });
  const folder = join(context.dataFolder, "bulk");
  const input = await (file === "-" ? spooledInput(context.stdin, folder, context.newId()) : fileInput(file));
  const reporter = createReporter(context);
  try {
    const rows = await openRows(input.open);
    const list: List = { input, rows, build, reporter };
    if (flags.dryRun === true) return await dryRun(list, context);
    const output = outputOf(file, flags, rows, input);
    await sendList(list, { ...options, settings, folder, output, flags }, context);
  } finally {
    reporter.end();
    await input.close();
  }
}

/** Checked before anything is sent: results that cannot be written are found out too late else. */
function outputOf(file: string, { output }: BulkFlags, { format }: Rows, input: Input): string {
  const path = output ?? defaultOutput(file, format === "json lines");
  const refuse = (reason: string): never => {
    throw new PaylinkError("usage", `--output ${path} ${reason}. Nothing was sent.`);
  };
  if (existsSync(path) && realpathSync(path) === input.path) refuse("must not be the list itself");
  if (existsSync(path) && !statSync(path).isFile()) refuse("must be a file");
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch {
    refuse("must stand in a folder that can be written to");
  }
  return path;
}

async function dryRun(list: List, context: Context): Promise<void> {
  const { out, now, signal } = context;
  const { rows, build, reporter } = list;
  const parts = { rows: rows.read(), build, now: now(), signal, isDone: () => false };
  const checked = await checkRows({ ...parts, checked: reporter.checked });
  reporter.end();
  noteUnsent(checked, context);
  noteWarnings(checked.warnings, context);
  const total = checked.asks.length;
  const invalid = checked.invalid.size;
  const { warnings } = checked;
  if (out.json) out.data(JSON.stringify({ type: "summary", rows: total, invalid, warnings }));
  if (invalid > 0) throw badRows(checked);
  if (!out.json) out.data(`${rowsOf(total)}, all good. Nothing was sent.`);
}
