/** Turns the flags of `bulk`, the base file and the settings into what a run needs. */
import { extname, join, parse } from "node:path";
import { noAccount } from "../../service/open-client.ts";
import type { ListFacts } from "../../bulk/memory.ts";
import { isCsv, isJsonLines } from "../../bulk/results.ts";
import type { Context, Output } from "../../context.ts";
import { canonicalAddress } from "../../domain/addresses.ts";
import { accepted, type Parsed, refused } from "../../domain/parse-result.ts";
import { readBaseRequest, requestBuilder, type RequestBuilder } from "../../service/request.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseCount, parseRate, parseTimeout } from "../flag-values.ts";
import { type ListenerContext, unusedListener } from "../running-listener.ts";
import type { BulkFlags } from "./flags.ts";

export interface BulkOptions {
  /** The list; `-` is standard input. */
  readonly file: string;
  /** Completes the rows with flags, base file and settings. */
  readonly build: RequestBuilder;
  /** The base URL of the service, in its canonical spelling; undefined only checks the rows. */
  readonly service: string | undefined;
  readonly concurrency: number;
  /** Requests a second; undefined sets no limit. */
  readonly rate: number | undefined;
  /** Milliseconds for one exchange. */
  readonly timeout: number;
  /** The file of the results; `-` is standard output, undefined is a file beside the list. */
  readonly output: string | undefined;
  /** Whether any file may be overwritten with the results. */
  readonly force: boolean;
  readonly skipInvalid: boolean;
  readonly retryUnknown: boolean;
  /** The header for the key of a row, if the service recognises one. */
  readonly idempotencyHeader: string | undefined;
  /** What to do with rows that were sent before, from another list. */
  readonly repeats: ListFacts["repeats"];
}

const MAX_CONCURRENCY = 256;

/** Throws one `usage` error with every problem, or `no_profile`. */
export async function bulkOptions(
  file: string,
  flags: BulkFlags,
  context: Pick<Context, "settings" | "readFile"> &
    ListenerContext & {
      readonly out: Pick<Output, "json">;
    },
): Promise<BulkOptions> {
  const settings = await context.settings();
  const reader = createFlagReader();
  const concurrency = reader.read("--concurrency", flags.concurrency, parseCount(1, MAX_CONCURRENCY));
  const rate = reader.read("--rate", flags.rate, parseRate);
  const timeout = reader.read("--timeout", flags.timeout, parseTimeout);
  const output = reader.read("--output", flags.output, parseOutput);
  if (flags.output === "-" && context.out.json)
    reader.problem("--output", "must be a file with --json, which prints every row on stdout");
  if (flags.newRows === true && flags.again === true)
    reader.problem("--again", "cannot be combined with --new-rows");
  const isStdinTaken = flags.from === "-" && file === "-";
  if (isStdinTaken) reader.problem("--from", "must be a file if the rows come from stdin");
  const base =
    flags.from === undefined || isStdinTaken
      ? undefined
      : await readBaseRequest(flags.from, context.readFile);
  reader.problems(base?.problems ?? []);
  reader.finish("Nothing was sent.");
  const service = flags.dryRun === true ? undefined : settings.get("baseUrl");
  if (service === undefined && flags.dryRun !== true) throw noAccount();
  return {
    file,
    build: requestBuilder({
      flags,
      base: base?.value,
      settings,
      listener: await unusedListener(flags, settings, context),
    }),
    service: service === undefined ? undefined : canonicalAddress(service),
    concurrency: concurrency.value,
    rate: rate.value,
    timeout: timeout.value,
    output: output.value,
    force: flags.force ?? false,
    skipInvalid: flags.skipInvalid ?? false,
    retryUnknown: flags.retryUnknown ?? false,
    idempotencyHeader: settings.get("idempotencyHeader"),
    repeats: repeatsOf(flags),
  };
}

function repeatsOf({ newRows, again }: BulkFlags): ListFacts["repeats"] {
  if (newRows === true) return "skip";
  return again === true ? "send" : "refuse";
}

const parseOutput = (path: string): Parsed<string> =>
  path === "-" || isCsv(path) || isJsonLines(path)
    ? accepted(path)
    : refused("must end in .csv or .jsonl, or be - for stdout");

/** The results of `orders.csv` go to `orders.links.csv`, those of standard input to the current folder. */
export function defaultOutput(file: string, isJson: boolean): string {
  const ending = isJson ? ".jsonl" : ".csv";
  if (file === "-") return `stdin.links${ending}`;
  const { dir, name } = parse(file);
  const own = extname(file);
  return join(dir, `${name}.links${isCsv(own) || isJsonLines(own) ? own : ending}`);
}
