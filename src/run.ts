/** Runs one command line: gives the command its context, reports a failure, and returns the exit code. */
import type { CommandUnknownOpts, CommanderError } from "@commander-js/extra-typings";
import type { Context, GlobalOptions, Output } from "./context.ts";
import { FAILURES, hint, PaylinkError } from "./domain/errors.ts";
import { hasCode, systemReason } from "./domain/system-reason.ts";
import { createProgram } from "./program.ts";

/** What the machine, or a test, gives a run. */
export interface Runtime {
  readonly version: string;
  /** Fires at Ctrl-C or SIGTERM, with the error that ends the run as its reason. */
  readonly signal: AbortSignal;
  /** Rejects with an error that was thrown where no code of the command could catch it. */
  readonly uncaught: Promise<never>;
  /** The stack of a crash, by the sources. */
  readonly stackOf: (error: Error) => Promise<string>;
  /** Where help and results go. */
  readonly print: (text: string) => void;
  /** Called once, when the command line needs more than help. */
  readonly opener: () => Promise<Opener>;
}

/** Opens the context of a command; and the output alone, for a failure before there is a context: a mistyped command line. */
export interface Opener {
  readonly openOutput: (options: GlobalOptions) => Promise<Output>;
  readonly openContext: (options: GlobalOptions) => Promise<Context>;
}

/** Resolves with the exit code. Never rejects. */
export async function runCommandLine(argv: readonly string[], runtime: Runtime): Promise<number> {
  let exit = 0;
  let context: Context | undefined;
  let out: Output | undefined;
  let active: CommandUnknownOpts | undefined;
  let opened: Promise<Opener> | undefined;
  const opener = (): Promise<Opener> => (opened ??= runtime.opener());
  const program = createProgram({
    argv,
    version: runtime.version,
    print: runtime.print,
    execute: async (command, work) => {
      active = command;
      context = await (await opener()).openContext(program.opts());
      out = context.out;
      exit = await work(context);
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
    const { stackOf } = runtime;
    return await report(out, error, { argv, active: active ?? program, context, stackOf });
  }
}

interface Run extends Pick<Runtime, "stackOf"> {
  readonly argv: readonly string[];
  /** The command that ran; all of paylink if none did. */
  readonly active: CommandUnknownOpts;
  readonly context: Context | undefined;
}

async function report(out: Output, error: unknown, run: Run): Promise<number> {
  const { argv, active, context } = run;
  const failure =
    error instanceof PaylinkError ? error : (fileFailure(error) ?? (await internalError(error, run)));
  const wasStopped = failure.code === "interrupted" || failure.code === "terminated";
  const [{ renderError }, { correctedLine }] = await Promise.all([
    import("./render/error-message.ts"),
    import("./commands/corrections.ts"),
  ]);
  if (!out.json && wasStopped) return failure.exit;
  const profile = failure.hints.length === 0 ? undefined : await namedProfile(context);
  const corrected = correctedLine(failure, argv, active, isCommandLine);
  out.error(renderError(failure, out, { corrected, profile }));
  return failure.exit;
}

/** Whether the words name a command with all that it needs; it is not run. */
function isCommandLine(words: readonly string[]): boolean {
  const program = createProgram({
    argv: words,
    version: "",
    print: () => undefined,
    execute: async () => undefined,
  });
  try {
    program.parse(words, { from: "user" });
    return true;
  } catch (error) {
    return isCommanderExit(error);
  }
}

/** Also undefined if the settings cannot be read. */
const namedProfile = async (context: Context | undefined): Promise<string | undefined> =>
  context?.settings().then(
    ({ named }) => named,
    () => undefined,
  );

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

async function internalError(error: unknown, { stackOf }: Run): Promise<PaylinkError> {
  const message = error instanceof Error ? await stackOf(error) : String(error);
  const report =
    PAYLINK_ISSUES === ""
      ? FAILURES.internal.hints
      : [hint`Please report this bug of paylink, with the text above: ${PAYLINK_ISSUES}`];
  return new PaylinkError("internal", message, { cause: error, hints: report });
}
