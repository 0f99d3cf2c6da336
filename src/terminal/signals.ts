/** The signals of the process: the first one ends the command in order, and a second one at once. */
import { isatty } from "node:tty";
import { PaylinkError } from "../domain/errors.ts";

export interface Signals {
  /**
   * Fires at Ctrl-C, at SIGTERM, and at SIGHUP, which the system sends when the terminal is closed. A command that has no terminal, such as
   * one under nohup, runs on: Node.js itself forgets that nohup has the signal ignored.
   */
  readonly interruption: AbortSignal;
  /** Fires right before the process ends, also at a second signal and after a crash. */
  readonly exiting: AbortSignal;
  /** Restores the system's own handling of the signals. */
  readonly close: () => void;
}

const SIGNAL_ERRORS = {
  SIGINT: () => new PaylinkError("interrupted", "Interrupted."),
  SIGTERM: () => new PaylinkError("terminated", "Terminated."),
  SIGHUP: () => new PaylinkError("terminated", "Terminated: the terminal was closed."),
} as const;

export function watchSignals(process: NodeJS.Process): Signals {
  const [interruption, exiting] = [new AbortController(), new AbortController()];
  // A closed terminal does not count.
  const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  const onSignal = (name: keyof typeof SIGNAL_ERRORS): void => {
    if (name === "SIGHUP" && !hasTerminal) return;
    if (!interruption.signal.aborted) return interruption.abort(SIGNAL_ERRORS[name]());
    exiting.abort();
    close();
    // Without a handler, the system ends the process with the signal.
    process.kill(process.pid, name);
    // It does not if the process is process 1 of a container.
    setTimeout(() => process.exit(SIGNAL_ERRORS[name]().exit), 100);
  };
  const onExit = (): void => exiting.abort();
  const close = (): void => {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal).off("SIGHUP", onSignal);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal).on("SIGHUP", onSignal).once("exit", onExit);
  return {
    interruption: interruption.signal,
    exiting: exiting.signal,
    close,
  };
}
