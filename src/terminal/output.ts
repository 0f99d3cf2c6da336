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
export type Output = Awaited<ReturnType<typeof createOutput>>;

/** `hide` removes secrets from every message. Card numbers are masked in text; JSON documents arrive with theirs masked. */
export async function createOutput(
  { stdout, stderr, toStdout, toStderr }: StandardChannels,
  env: NodeJS.ProcessEnv,
  options: { readonly json?: boolean; readonly color: boolean },
  hide: (text: string) => string,
  now: () => Date,
) {
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
  const talk = (text: string): void => aroundProgress(stderr, () => toStderr.write(`${readable(text)}\n`));
  const talkAt = (level: "info" | "warning", text: string, mark = ""): void =>
    talk(isLog && stderr.isTTY !== true ? logLine(now(), level, text) : `${mark}${text}`);
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
      else talk(text);
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
    /** stdout carries JSON only; text for people goes to stderr. */
    json,
    /** Columns of the terminal that `data` goes to; 80 if stdout is not a terminal. */
    get width(): number {
      return widthOf(stdout);
    },
    /** Columns that a line may have: those of the terminal; no limit where programs read it. */
    get lineWidth(): number {
      return stdout.isTTY === true ? widthOf(stdout) : Number.POSITIVE_INFINITY;
    },
    /** Whether somebody watches stdout on a terminal: elsewhere each time needs its date. */
    isTerminal: stdout.isTTY === true,
    /** Colours for `data` and for `note`: each knows what its own stream can show. */
    paint,
    notePaint,
    /** One line (or several) of the result, on stdout; on stderr if stdout cannot be written. */
    data: (text: string): void => print(`${printed(text)}\n`),
    /** A result: a document with `json`, else words. */
    result: (document: object, words: string): void =>
      print(`${printed(json ? JSON.stringify(document) : words)}\n`),
    /** Lines of a list or a stream whose contents are stored elsewhere, written together; none once `unread` has fired. */
    lines: (texts: readonly string[]): void => {
      if (unread.signal.aborted || texts.length === 0) return;
      printLines([...texts.map(printed), ""].join("\n"));
      if (toStdout.waiting > MAX_WAITING) unread.abort();
    },
    /** The bytes of the result, with nothing added. */
    bytes: (bytes: Uint8Array): void => print(bytes),
    /**
     * Fires when nobody sees further output: stdout cannot be written (its reader has gone, as in
     * `paylink … | head`, or the disk is full), or the reader is too far behind with `lines`.
     */
    unread: (): AbortSignal => unread.signal,
    /** Resolves when stdout accepts more: output that is printed faster than it is read fills the memory. */
    drained: toStdout.drained,
    /** Resolves when everything is written, or with `output_unwritable`. */
    settled: async (): Promise<PaylinkError | undefined> => {
      await toStdout.settled();
      return failure;
    },
    /** With `json`, the results that stdout did not accept: a member of the one document on stderr. */
    unwritten: unwritten as readonly string[],
    /** One line (or several) for people, on stderr. With `json` it is not shown: nobody reads it. */
    note: (text: string): void => {
      if (!json) talkAt("info", text);
    },
    /**
     * Something that the user should know, without ending the command: `! text` on stderr. With `json` it is kept, and
     * becomes a member of the one document on stderr, unless `streamWarnings` was called.
     */
    warn: (text: string): void => {
      // Warnings quote files and answers of the service.
      const message = safeLines(maskCardNumbers(hide(text)));
      if (!json) talkAt("warning", message, `${notePaint.yellow("!")} `);
      else if (warningsAsLines) {
        const line = { type: "warning", message, at: now(), level: "warning" };
        printLines(`${printed(JSON.stringify(line))}\n`);
      } else warnings.push(message);
    },
    /** The warnings kept for that document. */
    warnings: warnings as readonly string[],
    /** For commands that print JSON lines: with `json` each warning is a line of its own on stdout from now on. */
    streamWarnings: () => void (warningsAsLines = true),
    /**
     * For commands that run for days: as `streamWarnings`, and without `json`, messages on a stderr that is no terminal begin
     * with their time and level from now on.
     */
    keepLog: () => {
      warningsAsLines = true;
      isLog = !json;
    },
    /** The time and level of a failure, since `keepLog` was called, with `--json`. */
    get stamp() {
      return warningsAsLines && json ? (level: "info" | "error") => ({ at: now(), level }) : undefined;
    },
    /** Results begin with their time and level, since `keepLog` was called and stdout is no terminal. */
    get isLog(): boolean {
      return isLog && stdout.isTTY !== true;
    },
    /** The text without the secrets of any account, for a result that repeats the words of a service. */
    hide,
    /** The failure that ends the run, on stderr in every mode. */
    error: (text: string): void => talk(printed(text)),
    /** An HTTP exchange that `--debug` shows, on stderr in every mode. */
    debug: talk,
    /** Whether somebody watches stderr on a terminal, where a line can be drawn over. */
    live: stderr.isTTY === true && !json,
    /** Draws the one line that changes in place, below all other talk; undefined removes it. */
    progress: (text = ""): void => {
      if (stderr.isTTY !== true || json) return;
      const line = text.slice(0, widthOf(stderr) - 1);
      if (line === progressLine) return;
      progressLine = "";
      toStderr.write(`${CLEAR_LINE}${line}`);
      progressLine = line;
    },
  };
}

/** In a container, a terminal may have no size and report 0 columns. */
const widthOf = (stream: OutputStream): number => (stream.isTTY === true && stream.columns) || DEFAULT_WIDTH;

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
