/** The real binary on a real pseudo-terminal, with the screen as a person sees it. */
import type { Terminal } from "@xterm/headless";
import { onTestFinished } from "vitest";
import { GIVEN_ENVIRONMENT } from "./given-environment.ts";
import { BINARY } from "./paylink.ts";
import { openPseudoTerminal } from "./pseudo-terminal.mjs";

const COLUMNS = 100;
const ROWS = 40;

export interface Screen {
  /** What is on the screen now, without the empty space at the ends of lines. */
  text(): string;
  /** Everything that was ever written, control sequences and all. */
  raw(): string;
  /** Resolves when the screen shows a match; rejects when the program ends without one. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  type(keys: string): void;
  /** Signals the program alone. */
  signal(name: NodeJS.Signals): void;
  /** Closes the terminal, as a person closes its window. */
  close(): void;
  readonly ended: Promise<number>;
}

export const ENTER = "\r";
export const UP = "\u001b[A";
export const DOWN = "\u001b[B";
export const CTRL_C = "\u0003";

interface ScreenOptions {
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Runs this program instead, with the binary's path as its `$0`. */
  readonly shell?: string;
  readonly columns?: number;
}

export function openScreen(
  args: readonly string[],
  { home, env = {}, shell, columns = COLUMNS }: ScreenOptions,
): Screen {
  const command: [string, ...string[]] =
    shell === undefined
      ? [process.execPath, BINARY, ...args]
      : ["/bin/sh", "-c", shell, process.execPath, BINARY];
  const { terminal, child, ended, until } = openPseudoTerminal(command, {
    columns,
    rows: ROWS,
    env: {
      ...GIVEN_ENVIRONMENT,
      TERM: "xterm-256color",
      HOME: home,
      PAYLINK_HOME: home,
      TZ: "UTC",
      ...env,
    },
    text: textOf,
  });
  onTestFinished(() => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
  });
  const raw: string[] = [];
  child.onData((data) => raw.push(data));
  return {
    text: () => textOf(terminal),
    raw: () => raw.join(""),
    ended,
    until,
    type: (keys) => child.write(keys),
    signal: (name) => child.kill(name),
    close: () => {
      if (!("destroy" in child) || typeof child.destroy !== "function") throw new Error("cannot be closed");
      child.destroy();
    },
  };
}

function textOf({ buffer: { active } }: Terminal): string {
  const lines = Array.from({ length: active.length }, (_, row) =>
    active.getLine(row)?.translateToString(true),
  );
  return lines.join("\n").trimEnd();
}
