/** Runs one command line: gives the command its context, reports a failure, and returns the exit code. */
import type { CommandUnknownOpts, CommanderError } from "@commander-js/extra-typings";
import type { Context, GlobalOptions, Later, Output } from "./context.ts";
import { FAILURES, hint, PaylinkError } from "./domain/errors.ts";
import { hasCode, messageOf, systemReason } from "./domain/system-reason.ts";
import { createProgram } from "./program.ts";
import type { Named } from "./render/hint.ts";

/** What the machine, or a test, gives a run. */
export interface Runtime {
  readonly version: string;
  /** Fires at Ctrl-C or SIGTERM, with the error that ends the run as its reason. */
  readonly signal: AbortSignal;
  /** Rejects with an error that was thrown where no code of the command could catch it. */
  readonly uncaught: Promise<never>;
  /** Where help and results go. */
  readonly print: (text: string) => void;
  /** Called once, when the command line needs more than help. */
  readonly opener: () => Promise<Opener>;
}

/** Opens the context of a command; and the output alone, for a failure before there is a context: a mistyped command line. */
export interface Opener {
  readonly openOutput: (options: GlobalOptions) => Promise<Output>;
  readonly openContext: (options: GlobalOptions, run: RunParts) => Promise<Context>;
}

export interface RunParts {
  /** The `--db` of the command. */
  readonly eventStore: string | undefined;
  readonly later: Later;
}

/** Resolves with the exit code. Never rejects. */
export async function runCommandLine(argv: readonly string[], runtime: Runtime): Promise<number> {
  let exit = 0;
  let context: Context | undefined;
  let out: Output | undefined;
  let opened: Promise<Opener> | undefined;
  const opener = (): Promise<Opener> => (opened ??= runtime.opener());
  const program = createProgram({
    version: runtime.version,
    print: runtime.print,
    execute: async (command, work) => {
      const closes: (() => unknown)[] = [];
      const parts = {
        eventStore: eventStoreOf(command),
        later: (close: () => unknown) => void closes.push(close),
      };
      context = await (await opener()).openContext(program.opts(), parts);
      out = context.out;
      exit = await untilTimedOut(context, async (given) => {
        try {
          return await work(given);
        } finally {
          await closeAll(closes);
        }
      });
    },
  });
  try {
    const words = argv.length === 0 ? ["--help"] : argv;
    await Promise.race([program.parseAsync(words, { from: "user" }), runtime.uncaught]);
    runtime.signal.throwIfAborted();
    const unwritable = await out?.settled();
    if (unwritable !== undefined) throw unwritable;
    if (out !== undefined && out.json && out.warnings.length > 0)
      out.error(JSON.stringify({ warnings: out.warnings }));
    return exit;
  } catch (error) {
    // commander also throws after it has shown the help or the version.
    if (isCommanderExit(error)) return 0;
    out ??= await (await opener()).openOutput(program.opts());
    await out.settled();
    return await report(out, error, context?.named);
  }
}

async function report(out: Output, error: unknown, named: Named | undefined): Promise<number> {
  const failure = error instanceof PaylinkError ? error : (fileFailure(error) ?? internalError(error));
  const wasStopped = failure.code === "interrupted" || failure.code === "terminated";
  if (!out.json && wasStopped) return failure.exit;
  const { renderError } = await import("./render/error-message.ts");
  out.error(renderError(failure, out, named));
  return failure.exit;
}

/** The `--db` of a command; that of `sandbox` is no event store. */
function eventStoreOf(command: CommandUnknownOpts): string | undefined {
  const { db }: { db?: unknown } = command.name() === "sandbox" ? {} : command.opts();
  return typeof db === "string" ? db : undefined;
}

async function closeAll(closes: (() => unknown)[]): Promise<void> {
  const close = closes.pop();
  if (close === undefined) return;
  try {
    await close();
  } finally {
    await closeAll(closes);
  }
}

/** An exchange that the time of `--timeout` cut short fails as if the other side were to blame. */
async function untilTimedOut(context: Context, work: (context: Context) => Promise<number>): Promise<number> {
  const { signal, timeLimit } = context;
  try {
    const exit = await work(context);
    if (exit === 0) signal.throwIfAborted();
    return exit;
  } catch (error) {
    if (!(error instanceof PaylinkError) || BLAMING.has(error.code)) signal.throwIfAborted();
    throw error;
  } finally {
    timeLimit.end();
  }
}

const BLAMING: ReadonlySet<string> = new Set([
  "not_reached",
  "not_accepted",
  "check_failed",
  "database_unreachable",
]);

const isCommanderExit = (error: unknown): error is CommanderError =>
  error instanceof Error && "exitCode" in error && error.exitCode === 0;

/** What the file system refuses is no bug of paylink: a folder that cannot be made, a disk that is full or read-only. */
function fileFailure(error: unknown): PaylinkError | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || "spawnargs" in error) return undefined;
  const path = "path" in error && typeof error.path === "string" ? error.path : undefined;
  if (path === undefined && !hasCode(error, "ENOSPC", "EDQUOT", "EIO")) return undefined;
  const message = `${path ?? "A file of paylink"} cannot be used: ${systemReason(error)}.`;
  return new PaylinkError("file_unwritable", message, { cause: error });
}

function internalError(error: unknown): PaylinkError {
  if (isUnloadable(error))
    return new PaylinkError("internal", `A file of paylink is missing or damaged: ${firstLine(error)}`, {
      cause: error,
      hints: [
        hint`Install paylink again: npm install --global paylink. Whether anything was sent before is not known.`,
      ],
    });
  const message = error instanceof Error ? (error.stack ?? String(error)) : String(error);
  const report =
    PAYLINK_ISSUES === ""
      ? FAILURES.internal.hints
      : [hint`Please report this bug of paylink, with the text above: ${PAYLINK_ISSUES}`];
  return new PaylinkError("internal", message, { cause: error, hints: report });
}

/** Of a script that cannot be compiled, the stack begins with its path. */
const isUnloadable = (error: unknown): boolean =>
  hasCode(error, "MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND") ||
  (error instanceof SyntaxError && /^\S.*\.js:\d+\n/.test(error.stack ?? ""));

const firstLine = (error: unknown): string => messageOf(error).split("\n")[0] ?? "";
