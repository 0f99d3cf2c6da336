/** The signals of the process: the first one ends the command in order, a second one at once, and SIGHUP reloads. */
import { isatty } from "node:tty";
import { PaylinkError } from "../domain/errors.ts";

export interface Signals {
  /** Fires at Ctrl-C, at SIGTERM and when the terminal is closed. */
  readonly interruption: AbortSignal;
  /** Fires right before the process ends, also at a second signal and after a crash. */
  readonly exiting: AbortSignal;
  /** Calls back at SIGHUP, until the returned function is called. */
  readonly onReload: (reload: () => void) => () => void;
  /** Restores the system's own handling of the signals. */
  readonly close: () => void;
}

const REASONS = {
  SIGINT: () => new PaylinkError("interrupted", "Interrupted."),
  SIGTERM: () => new PaylinkError("terminated", "Terminated."),
} as const;

export function watchSignals(process: NodeJS.Process): Signals {
  const [interruption, exiting] = [new AbortController(), new AbortController()];
  const onSignal = (name: "SIGINT" | "SIGTERM"): void => {
    if (!interruption.signal.aborted) return interruption.abort(REASONS[name]());
    exiting.abort();
    close();
    // Without a handler, the system ends the process with the signal.
    process.kill(process.pid, name);
    // It does not if the process is process 1 of a container.
    setTimeout(() => process.exit(REASONS[name]().exit), 100);
  };
  const onExit = (): void => exiting.abort();
  const close = (): void => {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal).once("exit", onExit);
  return {
    interruption: interruption.signal,
    exiting: exiting.signal,
    close,
    onReload: (reload) => {
      const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
      // The system sends SIGHUP when a terminal is closed, too.
      const onHangup = (): void => {
        if (terminals.every((descriptor) => isatty(descriptor))) reload();
        else interruption.abort(REASONS.SIGTERM());
      };
      process.on("SIGHUP", onHangup);
      return () => void process.off("SIGHUP", onHangup);
    },
  };
}
