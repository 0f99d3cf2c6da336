/** Writes many lines together, through buffers that are used again: fresh memory for each costs more than the writing. */
import type { Channel } from "./channel.ts";

const BUFFER_SIZE = 64 * 1024;
/** Buffers that are kept for the next lines: what a slow reader made necessary is let go of again. */
const MOST_SPARE = 16;
/** What a UTF-16 code unit may become in UTF-8. */
const MOST_OCTETS = 3;
const LINE_FEED = 0x0a;

export function createLineWriter({ write }: Pick<Channel, "write">): (lines: readonly string[]) => void {
  const spare: Buffer[] = [];
  const writeBuffer = (buffer: Buffer, length: number): void =>
    write(buffer.subarray(0, length), () => {
      if (spare.length < MOST_SPARE) spare.push(buffer);
    });
  return (lines) => {
    let buffer: Buffer | undefined;
    let length = 0;
    const flush = (): void => {
      if (buffer !== undefined) writeBuffer(buffer, length);
      buffer = undefined;
      length = 0;
    };
    for (const line of lines) {
      const most = line.length * MOST_OCTETS + 1;
      if (length + most > BUFFER_SIZE) flush();
      if (most > BUFFER_SIZE) write(`${line}\n`);
      else {
        buffer ??= spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_SIZE);
        length += buffer.write(line, length);
        length = buffer.writeUInt8(LINE_FEED, length);
      }
    }
    flush();
  };
}
