/** The composition root: runs one command line, with Ctrl-C and SIGTERM, and waits for what it printed. */
import { runCommandLine } from "./run.ts";
import { standardChannels } from "./terminal/channel.ts";
import { unprinted } from "./terminal/lost-output.ts";
import { watchSignals } from "./terminal/signals.ts";

/** Runs one command line and resolves with the exit code. */
export async function runProcess(process: NodeJS.Process): Promise<number> {
  const signals = watchSignals(process);
  const channels = standardChannels(process, signals.interruption);
  let close: (() => Promise<void>) | undefined;
  let crash: { readonly error: unknown } | undefined;
  // Node would print a line of the bundle, which has thousands of characters.
  const uncaught = new Promise<never>((_, reject) =>
    process.on("uncaughtException", (error) => {
      crash ??= { error };
      reject(error);
    }),
  );
  let exit: number;
  try {
    exit = await runCommandLine(process.argv.slice(2), {
      version: PAYLINK_VERSION,
      signal: signals.interruption,
      uncaught,
      print: (text) => channels.toStdout.write(text),
      unprinted: () => unprinted(channels.toStdout),
      // Help needs no context: loading it takes an eighth of its time (startup bench).
      opener: async () => {
        const { createOpener, surroundingsOf } = await import("./open-context.ts");
        const opened = surroundingsOf(process, channels, signals);
        close = opened.close;
        return createOpener(opened.around);
      },
    });
  } finally {
    signals.close();
    await close?.();
  }
  // Thrown after the command had ended: nothing has reported it yet.
  if (exit === 0 && crash !== undefined) throw crash.error;
  if (exit === 0) return exit;
  await channels.toStderr.settled();
  // undici cannot cancel a connection that is still being made, which would keep the process alive.
  process.exit(exit);
  return exit;
}
