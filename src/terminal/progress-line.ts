/** The one line on stderr that changes in place, below all other messages; only a terminal shows it. */
import { clip } from "../render/width.ts";
import { terminalColumns, type OutputStream, type StandardChannels } from "./channel.ts";

const CLEAR_LINE = "\r\u001B[2K";

export class ProgressLine {
  readonly #channels: StandardChannels;
  #shown = "";

  constructor(channels: StandardChannels) {
    this.#channels = channels;
  }

  /** Draws the line as far as it fits, in place of the one before; an empty text removes it. */
  draw(text: string): void {
    const { stderr, toStderr } = this.#channels;
    const line = clip(text, terminalColumns(stderr) - 1);
    if (line === this.#shown) return;
    this.#shown = line;
    toStderr.write(`${CLEAR_LINE}${line}`);
  }

  /** Removes the line while something is written to this stream, and draws it again below. */
  around(stream: OutputStream, write: () => void): void {
    const isInTheWay = this.#shown !== "" && stream.isTTY === true;
    if (isInTheWay) this.#channels.toStderr.write(CLEAR_LINE);
    write();
    if (isInTheWay) this.#channels.toStderr.write(this.#shown);
  }
}
