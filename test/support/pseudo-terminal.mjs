/** A program in a pseudo-terminal of its own, and the screen that it draws. */
import { closeSync, constants, openSync } from "node:fs";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

/**
 * @typedef {object} Size
 * @property {number} columns
 * @property {number} rows
 */

/**
 * `text` gives what a pattern of `until` is looked for in.
 * @param {readonly [file: string, ...args: string[]]} command
 * @param {Size & { env: Record<string, string>, text: (terminal: InstanceType<typeof xterm.Terminal>) => string }} options
 */
export function openPseudoTerminal([file, ...args], { columns, rows, env, text }) {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const child = spawn(file, args, { cols: columns, rows, env });
  const release = holdOpen(child);
  /** @type {Set<() => void>} */
  const watchers = new Set();
  child.onData((data) => terminal.write(data, () => watchers.forEach((look) => look())));
  /** @type {Promise<number>} */
  const ended = new Promise((done) =>
    child.onExit(({ exitCode }) => {
      release();
      terminal.write("", () => done(exitCode));
    }),
  );
  return {
    terminal,
    child,
    /** Resolves with the exit code when the screen shows everything that the program wrote. */
    ended,
    /**
     * Resolves when the screen shows a match; rejects when the program ends without one.
     * @param {RegExp} pattern
     * @returns {Promise<RegExpExecArray>}
     */
    until: (pattern) =>
      new Promise((found, fail) => {
        const look = () => {
          const match = pattern.exec(text(terminal));
          if (match === null) return;
          watchers.delete(look);
          found(match);
        };
        watchers.add(look);
        void ended.then(() => {
          look();
          fail(new Error(`ended without ${pattern}:\n${text(terminal)}`));
        });
        look();
      }),
  };
}

/**
 * Keeps the program's side of the terminal open after its end. Otherwise the hang-up can come together with a part
 * of the last output, and libuv takes it for the end: 7 of 1,200 programs lost their last line.
 * @param {object} child
 */
function holdOpen(child) {
  if (!("ptsName" in child) || typeof child.ptsName !== "string") throw new Error("has no terminal");
  const side = openSync(child.ptsName, constants.O_RDWR | constants.O_NOCTTY);
  return () => closeSync(side);
}
