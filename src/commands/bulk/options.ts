/** The flags of `paylink bulk` that shape the run, read and checked together. */
import { extname, join, parse } from "node:path";
import { isCsv, isJsonLines } from "../../bulk/results.ts";
import { parseDuration } from "../../domain/duration.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import type { BulkFlags } from "./command.ts";

export interface BulkOptions {
  readonly concurrency: number;
  /** Requests a second; undefined is without a ceiling. */
  readonly rate: number | undefined;
  /** Milliseconds for one exchange. */
  readonly timeout: number;
}

const MAX_CONCURRENCY = 256;

/** Throws `usage`, every problem by its flag. */
export function bulkOptions(file: string, flags: BulkFlags): BulkOptions {
  const problems: Problem[] = [];
  const concurrency = Number(flags.concurrency);
  if (!/^\d+$/.test(flags.concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY)
    problems.push({ at: "--concurrency", message: `must be a whole number from 1 to ${MAX_CONCURRENCY}` });
  const rate =
    flags.rate === undefined ? undefined : Number(/^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(flags.rate)?.[1]);
  if (rate !== undefined && !(rate > 0))
    problems.push({ at: "--rate", message: "must be a number of requests a second, such as 20 or 0.5" });
  const timeout = parseDuration(flags.timeout);
  if (!timeout.ok) problems.push({ at: "--timeout", message: timeout.message });
  if (flags.output !== undefined && !isCsv(flags.output) && !isJsonLines(flags.output))
    problems.push({ at: "--output", message: "must end in .csv or .jsonl" });
  if (flags.from === "-" && file === "-")
    problems.push({ at: "--from", message: "must be a file where the rows come from stdin" });
  if (problems.length > 0) throw new PaylinkError("usage", "Nothing was sent.", { problems });
  return { concurrency, rate, timeout: timeout.ok ? timeout.value.milliseconds : 0 };
}

/** `orders.csv` has its results in `orders.links.csv`; what came through stdin, in the folder one is in. */
export function defaultOutput(file: string, isJson: boolean): string {
  const ending = isJson ? ".jsonl" : ".csv";
  if (file === "-") return `stdin.links${ending}`;
  const { dir, name } = parse(file);
  const own = extname(file);
  return join(dir, `${name}.links${isCsv(own) || isJsonLines(own) ? own : ending}`);
}
