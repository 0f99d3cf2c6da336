/** Prints: results on stdout, messages on stderr, each with the colours that its stream supports. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import type { ColorSupportLevel } from "chalk";
import type { GlobalOptions, Output } from "../context.ts";
import { NO_PAINT, type Paint } from "../render/paint.ts";
import { safeJson, safeLines } from "../render/safe-text.ts";

/** Node's stream; a terminal's knows its width and its colours. */
export interface OutputStream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
  getColorDepth?(env: object): number;
}

export interface StandardStreams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

const DEFAULT_WIDTH = 80;
const CLEAR_LINE = "\r\u001B[2K";
/** The most bytes of `lines` that may wait for a slow reader. With more, it counts as gone, to limit the memory. */
const MAX_WAITING = 64 * 1024 * 1024;

/** The streams of the process. A reader may stop reading (`paylink … | head`); the command continues without it. */
export function standardStreams({ stdout, stderr }: StandardStreams): StandardStreams {
  for (const stream of [stdout, stderr]) stream.on("error", ignoreClosedPipe);
  return { stdout, stderr };
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** `hide` removes secrets from every message. */
export async function createOutput(
  { stdout, stderr }: StandardStreams,
  env: NodeJS.ProcessEnv,
  options: Pick<GlobalOptions, "json" | "color">,
  hide: (text: string) => string,
): Promise<Output> {
  const paint = await paintOf(colourLevel(stdout, options.color, env));
  const notePaint = await paintOf(colourLevel(stderr, options.color, env));
  const readerGone = new AbortController();
  stdout.once("error", () => readerGone.abort());
  let progressLine = "";
  /** Removes the progress line, writes, and draws the line again below. */
  const write = (stream: OutputStream, text: string | Uint8Array): void => {
    const redraws = progressLine !== "" && stream.isTTY === true;
    if (redraws) stderr.write(CLEAR_LINE);
    stream.write(text);
    if (redraws) stderr.write(progressLine);
  };
  const json = options.json ?? false;
  const warnings: string[] = [];
  let warningsAsLines = false;
  const talk = (text: string): void => write(stderr, `${hide(text)}\n`);
  /** What came over the wire is safe in JSON too. */
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
    data: (text) => write(stdout, `${printed(text)}\n`),
    lines: (texts) => {
      if (readerGone.signal.aborted || texts.length === 0) return;
      write(stdout, Buffer.from(`${printed(texts.join("\n"))}\n`));
      if (stdout.writableLength > MAX_WAITING) readerGone.abort();
    },
    bytes: (bytes) => write(stdout, bytes),
    unread: () => readerGone.signal,
    drained: async () => {
      if (!stdout.writableNeedDrain || readerGone.signal.aborted) await nextTurn();
      // An error means that the reader is gone, which `unread` reports.
      else await once(stdout, "drain").catch(() => undefined);
    },
    note: (text) => {
      if (!json) talk(text);
    },
    warn: (text) => {
      // Warnings quote files and answers of the service.
      const message = safeLines(hide(text));
      if (!json) talk(`${notePaint.yellow("!")} ${message}`);
      else if (warningsAsLines) write(stdout, `${printed(JSON.stringify({ type: "warning", message }))}\n`);
      else warnings.push(message);
    },
    warnings,
    streamWarnings: () => void (warningsAsLines = true),
    error: (text) => talk(printed(text)),
    debug: talk,
    live: stderr.isTTY === true && !json,
    progress: (text = "") => {
      if (!stderr.isTTY || json) return;
      const line = text.slice(0, widthOf(stderr) - 1);
      if (line === progressLine) return;
      progressLine = "";
      write(stderr, `${CLEAR_LINE}${line}`);
      progressLine = line;
    },
  };
}

/** A terminal without a size, as in a container, reports 0 columns. */
const widthOf = (stream: OutputStream): number => (stream.isTTY === true && stream.columns) || DEFAULT_WIDTH;

/** A stream that accepts everything at once, such as a file, would otherwise leave no turn for an interruption. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Without colours there is no need to load chalk. */
const paintOf = async (level: ColorSupportLevel): Promise<Paint> =>
  level === 0 ? NO_PAINT : new (await import("chalk")).Chalk({ level });

/** chalk's own detection gives `--color` another meaning, so the level is decided here. */
function colourLevel(
  stream: OutputStream,
  when: GlobalOptions["color"],
  env: NodeJS.ProcessEnv,
): ColorSupportLevel {
  const forced = env["FORCE_COLOR"];
  if (when === "never") return 0;
  if (when === "auto") {
    if (env["NO_COLOR"]) return 0;
    if (forced === "0" || forced === "false") return 0;
    if (!stream.isTTY && forced === undefined) return 0;
  }
  const depth = (stream.isTTY === true && stream.getColorDepth?.(env)) || 4;
  if (depth >= 24) return 3;
  if (depth >= 8) return 2;
  return depth >= 4 || when === "always" || forced !== undefined ? 1 : 0;
}
