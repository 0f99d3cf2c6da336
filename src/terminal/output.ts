/** Prints: results on stdout, messages on stderr, each with the colours that its stream supports. */
import type { ColorSupportLevel } from "chalk";
import { maskCardNumbers } from "../domain/card-numbers.ts";
import { hint, PaylinkError } from "../domain/errors.ts";
import { systemReason } from "../domain/system-reason.ts";
import { logLine } from "../render/layout.ts";
import { NO_PAINT, type Paint } from "../render/paint.ts";
import { safeJson, safeLines } from "../render/safe-text.ts";
import { isReaderGone, type OutputStream, type StandardChannels } from "./channel.ts";

const DEFAULT_WIDTH = 80;
const CLEAR_LINE = "\r\u001B[2K";
/** The most bytes of `lines` that may wait for a slow reader. With more, the reader counts as gone, to limit the memory. */
const MAX_WAITING = 16 * 1024 * 1024;

/** Prints data to stdout and messages to stderr; nothing else in the program prints. */
export interface Output {
  /** stdout carries JSON only; text for people goes to stderr. */
  readonly json: boolean;
  /** Columns of the terminal that `data` goes to; 80 if stdout is not a terminal. */
  readonly width: number;
  /** Columns that a line may have: those of the terminal; no limit where programs read it. */
  readonly lineWidth: number;
  /** Whether somebody watches stdout on a terminal: elsewhere each time needs its date. */
  readonly isTerminal: boolean;
  /** Colours for `data` and for `note`: each knows what its own stream can show. */
  readonly paint: Paint;
  readonly notePaint: Paint;
  /** One line (or several) of the result, on stdout; on stderr if stdout cannot be written. */
  readonly data: (text: string) => void;
  /** A result: a document with `json`, else words. */
  readonly result: (document: object, words: string) => void;
  /** Lines of a list or a stream whose contents are stored elsewhere, written together; none once `unread` has fired. */
  readonly lines: (texts: readonly string[]) => void;
  /** The bytes of the result, with nothing added. */
  readonly bytes: (bytes: Uint8Array) => void;
  /**
   * Fires when nobody sees further output: stdout cannot be written (its reader has gone, as in
   * `paylink … | head`, or the disk is full), or the reader is too far behind with `lines`.
   */
  readonly unread: () => AbortSignal;
  /** Resolves when stdout accepts more: output that is printed faster than it is read fills the memory. */
  readonly drained: () => Promise<void>;
  /** Resolves when everything is written, or with `output_unwritable`. */
  readonly settled: () => Promise<PaylinkError | undefined>;
  /** With `json`, the results that stdout did not accept: a member of the one document on stderr. */
  readonly unwritten: readonly string[];
  /** One line (or several) for people, on stderr. With `json` it is not shown: nobody reads it. */
  readonly note: (text: string) => void;
  /**
   * Something that the user should know, without ending the command: `! text` on stderr. With `json` it is kept, and
   * becomes a member of the one document on stderr, unless `streamWarnings` was called.
   */
  readonly warn: (text: string) => void;
  /** The warnings kept for that document. */
  readonly warnings: readonly string[];
  /** For commands that print JSON lines: with `json` each warning is a line of its own on stdout from now on. */
  readonly streamWarnings: () => void;
  /**
   * For commands that run for days: does what `streamWarnings` does; and without `json`, messages on a stderr that is not a
   * terminal begin with their time and level from now on.
   */
  readonly keepLog: () => void;
  /** The time and level of a failure, with `--json` and once `keepLog` was called. */
  readonly stamp: ((level: "info" | "error") => { readonly at: Date; readonly level: string }) | undefined;
  /** Results begin with their time and level: `keepLog` was called, and stdout is not a terminal. */
  readonly isLog: boolean;
  /** The text without the secrets of any account, for a result that repeats the words of a service. */
  readonly hide: (text: string) => string;
  /** The failure that ends the run, on stderr in every mode. */
  readonly error: (text: string) => void;
  /** An HTTP exchange that `--debug` shows, on stderr in every mode. */
  readonly debug: (text: string) => void;
  /** Whether somebody watches stderr on a terminal, where a line can be redrawn. */
  readonly live: boolean;
  /** Draws the one line that changes in place, below all other messages; undefined removes it. */
  readonly progress: (text?: string) => void;
}

/** `hide` removes secrets from every message. Card numbers are masked in text; JSON documents arrive with theirs masked. */
export async function createOutput(
  { stdout, stderr, toStdout, toStderr }: StandardChannels,
  env: NodeJS.ProcessEnv,
  options: { readonly json?: boolean; readonly color: boolean },
  hide: (text: string) => string,
  now: () => Date,
): Promise<Output> {
  const paint = await paintOf(colourLevel(stdout, options.color, env));
  const notePaint = await paintOf(colourLevel(stderr, options.color, env));
  const unread = new AbortController();
  let progressLine = "";
  /** Removes the progress line, writes, and draws the line again below. */
  const aroundProgress = (stream: OutputStream, write: () => void): void => {
    const redraws = progressLine !== "" && stream.isTTY === true;
    if (redraws) toStderr.write(CLEAR_LINE);
    write();
    if (redraws) toStderr.write(progressLine);
  };
  const json = options.json ?? false;
  const warnings: string[] = [];
  let warningsAsLines = false;
  let isLog = false;
  const readable = (text: string): string => (json ? hide(text) : maskCardNumbers(hide(text)));
  const say = (text: string): void => aroundProgress(stderr, () => toStderr.write(`${readable(text)}\n`));
  const sayAt = (level: "info" | "warning", text: string, mark = ""): void =>
    say(isLog && stderr.isTTY !== true ? logLine(now(), level, text) : `${mark}${text}`);
  let failure: PaylinkError | undefined;
  let readerLeft = false;
  const unwritten: string[] = [];
  // A result may exist nowhere else, such as the URL of a new link: stderr gets what stdout does not accept. Lines are stored
  // elsewhere, so if the reader ends during a list (`events list | head`), the command ends without an error.
  const print = (chunk: string | Uint8Array): void => {
    const lost = (error: Error): void => {
      if (readerLeft && isReaderGone(error)) return;
      failure ??= resultUnwritable(error);
      unread.abort();
      const text = (typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk)).replace(/\n$/, "");
      if (json) unwritten.push(text);
      else say(text);
    };
    aroundProgress(stdout, () => toStdout.write(chunk, lost));
  };
  const printLines = (text: string): void => {
    const lost = (error: Error): void => {
      if (isReaderGone(error)) readerLeft = true;
      else failure ??= linesUnwritable(error);
      unread.abort();
    };
    aroundProgress(stdout, () => toStdout.write(Buffer.from(text), lost));
  };
  /** Makes remote text safe in JSON too. */
  const printed = json ? safeJson : (text: string): string => text;
  return {
    json,
    get width() {
      return streamWidth(stdout);
    },
    get lineWidth() {
      return stdout.isTTY === true ? streamWidth(stdout) : Number.POSITIVE_INFINITY;
    },
    isTerminal: stdout.isTTY === true,
    paint,
    notePaint,
    data: (text) => print(`${printed(text)}\n`),
    result: (document, words) => print(`${printed(json ? JSON.stringify(document) : words)}\n`),
    lines: (texts) => {
      if (unread.signal.aborted || texts.length === 0) return;
      printLines([...texts.map(printed), ""].join("\n"));
      if (toStdout.waiting > MAX_WAITING) unread.abort();
    },
    bytes: (bytes) => print(bytes),
    unread: () => unread.signal,
    drained: toStdout.drained,
    settled: async () => {
      await toStdout.settled();
      return failure;
    },
    unwritten,
    note: (text) => {
      if (!json) sayAt("info", text);
    },
    warn: (text) => {
      // Warnings quote files and answers of the service.
      const message = safeLines(maskCardNumbers(hide(text)));
      if (!json) sayAt("warning", message, `${notePaint.yellow("!")} `);
      else if (warningsAsLines) {
        const line = { type: "warning", message, at: now(), level: "warning" };
        printLines(`${printed(JSON.stringify(line))}\n`);
      } else warnings.push(message);
    },
    warnings,
    streamWarnings: () => void (warningsAsLines = true),
    keepLog: () => {
      warningsAsLines = true;
      isLog = !json;
    },
    get stamp() {
      return warningsAsLines && json ? (level: "info" | "error") => ({ at: now(), level }) : undefined;
    },
    get isLog() {
      return isLog && stdout.isTTY !== true;
    },
    hide,
    error: (text) => say(printed(text)),
    debug: say,
    live: stderr.isTTY === true && !json,
    progress: (text = "") => {
      if (stderr.isTTY !== true || json) return;
      const line = text.slice(0, streamWidth(stderr) - 1);
      if (line === progressLine) return;
      progressLine = "";
      toStderr.write(`${CLEAR_LINE}${line}`);
      progressLine = line;
    },
  };
}

/** In a container, a terminal may have no size and report 0 columns. */
const streamWidth = (stream: OutputStream): number =>
  (stream.isTTY === true && stream.columns) || DEFAULT_WIDTH;

function resultUnwritable(cause: Error): PaylinkError {
  const reason = isReaderGone(cause) ? "its reader has gone" : systemReason(cause);
  return new PaylinkError(
    "output_unwritable",
    `stdout could not be written (${reason}), so the result is on stderr.`,
    {
      hints: [hint`If the result names a link or a payment, it exists. Do not run the command again.`],
      cause,
    },
  );
}

const linesUnwritable = (cause: Error): PaylinkError =>
  new PaylinkError(
    "output_unwritable",
    `stdout could not be written (${systemReason(cause)}), so lines are missing.`,
    {
      cause,
    },
  );

/** Without colours there is no need to load chalk. */
const paintOf = async (level: ColorSupportLevel): Promise<Paint> =>
  level === 0 ? NO_PAINT : new (await import("chalk")).Chalk({ level });

/** As https://no-color.org and https://force-color.org say, for each stream by itself. */
function colourLevel(stream: OutputStream, isWanted: boolean, env: NodeJS.ProcessEnv): ColorSupportLevel {
  const forced = env["FORCE_COLOR"];
  if (!isWanted || env["NO_COLOR"] || forced === "0" || forced === "false") return 0;
  if (stream.isTTY !== true && forced === undefined) return 0;
  const depth = (stream.isTTY === true && stream.getColorDepth?.(env)) || 4;
  if (depth >= 24) return 3;
  if (depth >= 8) return 2;
  return depth >= 4 || forced !== undefined ? 1 : 0;
}
