/** Prints: data on stdout, talk on stderr, each in the colours that its stream can show. */
import { once } from "node:events";
import type { ColorSupportLevel } from "chalk";
import type { GlobalOptions, Output } from "../context.ts";
import { NO_PAINT, type Paint } from "../render/paint.ts";
import { safeLines } from "../render/safe-text.ts";
import type { Channel, OutputStream } from "./channel.ts";
import { createLineWriter } from "./line-writer.ts";

export interface Channels {
  readonly stdout: Channel;
  readonly stderr: Channel;
}

const DEFAULT_WIDTH = 80;
const CLEAR_LINE = "\r\u001B[2K";

/** `hide` takes secrets out of what is said: whatever failed, and whoever worded it. */
export async function createOutput(
  { stdout, stderr }: Channels,
  env: NodeJS.ProcessEnv,
  options: Pick<GlobalOptions, "json" | "color">,
  hide: (text: string) => string,
): Promise<Output> {
  const paint = await paintOf(colourLevel(stdout, options.color, env));
  const notePaint = await paintOf(colourLevel(stderr, options.color, env));
  let drawn = "";
  let watched: AbortController | undefined;
  const reader = (): AbortController => (watched ??= watchReader(stdout.stream()));
  const unread = (): AbortSignal => reader().signal;
  /** Writes with the changing line out of the way, and draws it again below. */
  const aside = (channel: Channel, write: () => void): void => {
    if (drawn !== "" && channel.isTTY) stderr.write(CLEAR_LINE);
    write();
    if (drawn !== "" && channel.isTTY) stderr.write(drawn);
  };
  const write = (channel: Channel, text: string | Uint8Array): void =>
    aside(channel, () => channel.write(text));
  const writeLines = createLineWriter(stdout);
  const json = options.json ?? false;
  const warnings: string[] = [];
  let warningsAsLines = false;
  const talk = (text: string): void => write(stderr, `${hide(text)}\n`);
  return {
    json,
    get width() {
      return widthOf(stdout);
    },
    paint,
    notePaint,
    data: (text) => write(stdout, `${text}\n`),
    lines: (texts) => {
      if (reader().signal.aborted) return;
      aside(stdout, () => writeLines(texts));
      if (stdout.stream().writableLength > MOST_UNREAD) reader().abort();
    },
    bytes: (bytes) => write(stdout, bytes),
    unread,
    drained: async () => {
      if (!stdout.stream().writableNeedDrain || unread().aborted) await endOfTurn();
      // A reader that goes meanwhile ends the waiting too: `unread` tells of it.
      else await once(stdout.stream(), "drain").catch(() => undefined);
    },
    note: (text) => {
      if (!json) talk(text);
    },
    warn: (text) => {
      // Warnings quote files and answers of the service.
      const message = safeLines(hide(text));
      if (!json) talk(`${notePaint.yellow("!")} ${message}`);
      else if (warningsAsLines) write(stdout, `${JSON.stringify({ type: "warning", message })}\n`);
      else warnings.push(message);
    },
    warnings,
    streamWarnings: () => void (warningsAsLines = true),
    error: talk,
    debug: talk,
    live: stderr.isTTY && !json,
    progress: (text = "") => {
      if (!stderr.isTTY || json) return;
      const line = text.slice(0, widthOf(stderr) - 1);
      if (line === drawn) return;
      drawn = "";
      write(stderr, `${CLEAR_LINE}${line}`);
      drawn = line;
    },
  };
}

/** A terminal that nobody gave a size, as in a container, says that it has 0 columns. */
const widthOf = (channel: Channel): number => (channel.isTTY && channel.stream().columns) || DEFAULT_WIDTH;

/** Bytes that may wait to be read: a reader that lets more come together is treated as gone, to bound the memory. */
const MOST_UNREAD = 64 * 1024 * 1024;

/** Aborted once the reader has gone. */
function watchReader(stream: OutputStream): AbortController {
  const gone = new AbortController();
  stream.once("error", () => gone.abort());
  return gone;
}

/** A stream that takes everything at once, as a file does, would else leave no room for an interruption. */
const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Scripts see no colour, and should not wait for what makes it. */
const paintOf = async (level: ColorSupportLevel): Promise<Paint> =>
  level === 0 ? NO_PAINT : new (await import("chalk")).Chalk({ level });

/** chalk's own detection reads the arguments for `--color`, whose values are ours; so the level is decided here. */
function colourLevel(
  channel: Channel,
  when: GlobalOptions["color"],
  env: NodeJS.ProcessEnv,
): ColorSupportLevel {
  const forced = env["FORCE_COLOR"];
  if (when === "never") return 0;
  if (when === "auto") {
    if (env["NO_COLOR"]) return 0;
    if (forced === "0" || forced === "false") return 0;
    if (!channel.isTTY && forced === undefined) return 0;
  }
  const depth = (channel.isTTY && channel.stream().getColorDepth?.(env)) || 4;
  if (depth >= 24) return 3;
  if (depth >= 8) return 2;
  return depth >= 4 || when === "always" || forced !== undefined ? 1 : 0;
}
