/** Prints: results on stdout, messages on stderr, each with the colours that its stream supports. */
import type { ColorSupportLevel } from "chalk";
import type { GlobalOptions, Output } from "../context.ts";
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

/** `hide` removes secrets from every message. Card numbers are masked in text; JSON documents arrive with theirs masked. */
export async function createOutput(
  { stdout, stderr, toStdout, toStderr }: StandardChannels,
  env: NodeJS.ProcessEnv,
  options: Pick<GlobalOptions, "json" | "color">,
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
    json,
    get width() {
      return widthOf(stdout);
    },
    get lineWidth() {
      return stdout.isTTY === true ? widthOf(stdout) : Number.POSITIVE_INFINITY;
    },
    paint,
    notePaint,
    data: (text) => print(`${printed(text)}\n`),
    lines: (texts) => {
      if (unread.signal.aborted || texts.length === 0) return;
      printLines([...texts.map(printed), ""].join("\n"));
      if (toStdout.waiting > MAX_WAITING) unread.abort();
    },
    bytes: print,
    unread: () => unread.signal,
    drained: toStdout.drained,
    settled: async () => {
      await toStdout.settled();
      return failure;
    },
    unwritten,
    note: (text) => {
      if (!json) talkAt("info", text);
    },
    warn: (text) => {
      // Warnings quote files and answers of the service.
      const message = safeLines(maskCardNumbers(hide(text)));
      if (!json) talkAt("warning", message, `${notePaint.yellow("!")} `);
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
      return warningsAsLines && json ? (level: string) => ({ at: now(), level }) : undefined;
    },
    get isLog() {
      return isLog && stdout.isTTY !== true;
    },
    hide,
    error: (text) => talk(printed(text)),
    debug: talk,
    live: stderr.isTTY === true && !json,
    progress: (text = "") => {
      if (!stderr.isTTY || json) return;
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
