/** Prints: results on stdout, messages on stderr, each with the colours that its stream supports. */
import type { ColorSupportLevel } from "chalk";
import { maskCardNumbers } from "../domain/card-numbers.ts";
import type { PaylinkError } from "../domain/errors.ts";
import { fitLines, logLine } from "../render/layout.ts";
import { NO_PAINT, type Paint } from "../render/paint.ts";
import { stringifyJson } from "../values/json.ts";
import { safeJson, safeLines } from "../render/safe-text.ts";
import { terminalColumns, type OutputStream, type StandardChannels } from "./channel.ts";
import { OutputDelivery } from "./lost-output.ts";
import { ProgressLine } from "./progress-line.ts";

/** The most bytes of `lines` that may wait for a slow reader. With more, the reader counts as gone, to limit the memory. */
const MAX_WAITING = 16 * 1024 * 1024;

interface OutputOptions {
  readonly json?: boolean;
  readonly color: boolean;
}

interface OutputParts {
  readonly channels: StandardChannels;
  readonly json: boolean;
  readonly paint: Paint;
  readonly notePaint: Paint;
  /** Removes secrets from a text. */
  readonly hide: (text: string) => string;
  readonly now: () => Date;
}

/** `hide` removes secrets from every message. Card numbers are masked in text; JSON documents arrive with theirs masked. */
export async function createOutput(
  channels: StandardChannels,
  env: NodeJS.ProcessEnv,
  { json = false, color }: OutputOptions,
  hide: (text: string) => string,
  now: () => Date,
): Promise<Output> {
  const paint = await paintOf(colourLevel(channels.stdout, color, env));
  const notePaint = await paintOf(colourLevel(channels.stderr, color, env));
  return new Output({ channels, json, paint, notePaint, hide, now });
}

/**
 * Where messages go. `ends`: the command ends soon, and with `json` one document has its warnings. `streams`: with `json` each
 * warning is a line of its own. `log`: the same, and without `json` messages have their time and level where no terminal shows them.
 */
type MessageMode = "ends" | "streams" | "log";

/** A value, or what makes it. */
type Made<T extends object | string | undefined> = T | (() => T);

/** Prints data to stdout and messages to stderr; nothing else in the program prints. */
export class Output {
  /** stdout carries JSON only; text for people goes to stderr. */
  readonly json: boolean;
  /** Colours for `data` and for `note`: each knows what its own stream can show. */
  readonly paint: Paint;
  readonly notePaint: Paint;
  /** Whether stdout is a terminal: elsewhere each time needs its date. */
  readonly isTerminal: boolean;
  /** Whether stderr is a terminal, where a line can be redrawn. */
  readonly live: boolean;
  /** The text without the secrets of any account, for a result that repeats the words of a service. */
  readonly hide: (text: string) => string;
  readonly #channels: StandardChannels;
  readonly #now: () => Date;
  readonly #delivery = new OutputDelivery();
  readonly #progress: ProgressLine;
  readonly #warnings: string[] = [];
  readonly #unwritten: string[] = [];
  #mode: MessageMode = "ends";

  constructor({ channels, json, paint, notePaint, hide, now }: OutputParts) {
    this.json = json;
    this.paint = paint;
    this.notePaint = notePaint;
    this.isTerminal = channels.stdout.isTTY === true;
    this.live = channels.stderr.isTTY === true && !json;
    this.hide = hide;
    this.#channels = channels;
    this.#now = now;
    this.#progress = new ProgressLine(channels);
  }

  /** Columns of the terminal that `data` goes to; 80 if stdout is not a terminal. */
  get width(): number {
    return terminalColumns(this.#channels.stdout);
  }

  /** Columns that a line may have: those of the terminal; no limit where programs read it. */
  get lineWidth(): number {
    return this.isTerminal ? this.width : Number.POSITIVE_INFINITY;
  }

  /** One line (or several) of the result, on stdout; on stderr if stdout cannot be written. */
  data(text: string): void {
    this.#print(`${this.#printed(text)}\n`);
  }

  /** A result: a document with `json`, else words. Only one of the two is made; nothing is printed of none. */
  result(document: Made<object | string>, words: Made<string | undefined>): void {
    const text = this.#shown(document, words);
    if (text !== undefined) this.data(text);
  }

  /** The same for one of a list or a stream, as `lines` prints it. */
  line(document: Made<object | string>, words: Made<string | undefined>): void {
    const text = this.#shown(document, words);
    if (text !== undefined) this.lines([text]);
  }

  /** The bytes of the result, with nothing added. */
  bytes(bytes: Uint8Array): void {
    this.#print(bytes);
  }

  /** Lines of a list or a stream whose contents are stored elsewhere, written together; none once `unread` has fired. */
  lines(texts: readonly string[]): void {
    if (this.#delivery.unread.aborted || texts.length === 0) return;
    this.#printLines(texts);
    if (this.#channels.toStdout.waiting > MAX_WAITING) this.#delivery.giveUpReader();
  }

  /**
   * Fires when nobody sees further output: stdout cannot be written (its reader has gone, as in
   * `paylink … | head`, or the disk is full), or the reader is too far behind with `lines`. Its reason says which, in words.
   */
  unread(): AbortSignal {
    return this.#delivery.unread;
  }

  /** Resolves when stdout accepts more: output that is printed faster than it is read fills the memory. */
  drained(): Promise<void> {
    return this.#channels.toStdout.drained();
  }

  /** Resolves when everything is written, or with `output_unwritable`. */
  async settled(): Promise<PaylinkError | undefined> {
    await this.#channels.toStdout.settled();
    return this.#delivery.failure;
  }

  /** With `json`, the results that stdout did not accept: a member of the one document on stderr. */
  get unwritten(): readonly string[] {
    return this.#unwritten;
  }

  /** One line (or several) for people, on stderr. With `json` it is not shown: nobody reads it. */
  note(text: string): void {
    if (!this.json) this.#say("info", text);
  }

  /**
   * Something that the user should know, without ending the command: `! text` on stderr. With `json` it is kept, and
   * becomes a member of the one document on stderr, unless `streamWarnings` was called.
   */
  warn(text: string): void {
    // Warnings quote files and answers of the service.
    const message = safeLines(maskCardNumbers(this.hide(text)));
    if (!this.json) this.#say("warning", message, `${this.notePaint.yellow("!")} `);
    else if (this.#mode === "ends") this.#warnings.push(message);
    else this.#printLines([JSON.stringify({ type: "warning", message, at: this.#now(), level: "warning" })]);
  }

  /** The warnings kept for that document. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** For commands that print JSON lines: with `json` each warning is a line of its own on stdout from now on. */
  streamWarnings(): void {
    this.#mode = "streams";
  }

  /**
   * For commands that run for days: does what `streamWarnings` does; and without `json`, messages on a stderr that is not a
   * terminal begin with their time and level from now on.
   */
  keepLog(): void {
    this.#mode = "log";
  }

  /** The time and level of a failure, with `--json` and once warnings are lines. */
  get stamp(): ((level: "info" | "error") => { readonly at: Date; readonly level: string }) | undefined {
    return this.json && this.#mode !== "ends" ? (level) => ({ at: this.#now(), level }) : undefined;
  }

  /** Results begin with their time and level: `keepLog` was called, and stdout is not a terminal. */
  get isLog(): boolean {
    return this.#isLogTo(this.#channels.stdout);
  }

  /** The failure that ends the run, on stderr in every mode. */
  error(text: string): void {
    this.debug(this.json ? safeJson(text) : this.#fitting(text));
  }

  /** An HTTP exchange that `--debug` shows, on stderr in every mode. */
  debug(text: string): void {
    const hidden = this.hide(text);
    const readable = this.json ? hidden : maskCardNumbers(hidden);
    const { stderr, toStderr } = this.#channels;
    this.#progress.around(stderr, () => toStderr.write(`${readable}\n`));
  }

  /** Draws the one line that changes in place, below all other messages; undefined removes it. */
  progress(text = ""): void {
    if (this.live) this.#progress.draw(text);
  }

  #shown(document: Made<object | string>, words: Made<string | undefined>): string | undefined {
    if (!this.json) return typeof words === "function" ? words() : words;
    const made = typeof document === "function" ? document() : document;
    return typeof made === "string" ? made : stringifyJson(made);
  }

  #isLogTo(stream: OutputStream): boolean {
    return this.#mode === "log" && !this.json && stream.isTTY !== true;
  }

  #say(level: "info" | "warning", text: string, mark = ""): void {
    const isLog = this.#isLogTo(this.#channels.stderr);
    this.debug(isLog ? logLine(this.#now(), level, text) : this.#fitting(`${mark}${text}`));
  }

  /** Text for people, in lines that fit the terminal of stderr. */
  #fitting(text: string): string {
    const { stderr } = this.#channels;
    return stderr.isTTY === true ? fitLines(text, terminalColumns(stderr)) : text;
  }

  /** Makes remote text safe in JSON too. */
  #printed(text: string): string {
    return this.json ? safeJson(text) : text;
  }

  #printLines(texts: readonly string[]): void {
    const chunk = Buffer.from([...texts.map((text) => this.#printed(text)), ""].join("\n"));
    this.#toStdout(chunk, (error) => this.#delivery.loseLines(error, chunk));
  }

  /** A result may exist nowhere else: stderr gets what stdout does not accept. */
  #print(chunk: string | Uint8Array): void {
    this.#toStdout(chunk, (error) => {
      if (!this.#delivery.loseResult(error)) return;
      const text = (typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk)).replace(/\n$/, "");
      if (this.json) this.#unwritten.push(text);
      else this.debug(text);
    });
  }

  #toStdout(chunk: string | Uint8Array, lost: (error: Error) => void): void {
    const { stdout, toStdout } = this.#channels;
    this.#progress.around(stdout, () => toStdout.write(chunk, lost));
  }
}

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
