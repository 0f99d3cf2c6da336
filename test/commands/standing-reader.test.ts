/** Commands that have printed everything while the reader of stdout stands still, and are then ended. */
import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { runCommand, terminated } from "../support/context.ts";

it.each([[["--help"]], [["help", "production"]], [["version"]], [["config", "list"]]])(
  "ends %j as interrupted: with exit code 0, its pending output would keep the process alive",
  async (command) => {
    let isPrinted = false;
    const stdout = new Writable({ write: () => void (isPrinted = true) });
    const interruption = new AbortController();
    const ended = runCommand(command, { stdout, signal: interruption.signal });
    await expect.poll(() => isPrinted).toBe(true);
    interruption.abort(terminated());
    expect(await ended).toMatchObject({ exit: 143 });
  },
);
