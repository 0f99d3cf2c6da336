/** Standard output and error by their descriptors: the objects that Node has for them load its network and terminals. */
import { fstatSync, statSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import type { Writable } from "node:stream";

/** Node's stream; a terminal's knows its width and its colours. */
export interface OutputStream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
  getColorDepth?(env: object): number;
}

export interface Channel {
  readonly isTTY: boolean;
  /** Node's own object, which knows how wide a terminal is and what it can show. */
  stream(): OutputStream;
  /** `taken` is told once the memory of the data is the caller's again. */
  write(data: string | Uint8Array, taken?: () => void): void;
}

export function openChannel(descriptor: number, open: () => OutputStream): Channel {
  let opened: OutputStream | undefined;
  const stream = (): OutputStream => (opened ??= open().on("error", ignoreClosedPipe));
  let isTTY: boolean | undefined;
  return {
    get isTTY() {
      return (isTTY ??= isTerminal(descriptor, open));
    },
    stream,
    write: (data, taken) => {
      const rest = opened === undefined ? writeStraight(descriptor, data) : data;
      if (rest.length > 0) stream().write(rest, taken);
      else taken?.();
    },
  };
}

/**
 * Node's answer takes loading its terminals, so it is asked only of a character device, which a terminal is, other than
 * the null device. Both are looked at in big integers because the other way leaves "a pipe" behind where Node's realpath
 * looks next, which then resolves no symbolic link: a package that is linked to would not find its own.
 */
export function isTerminal(descriptor: number, open: () => { readonly isTTY?: boolean }): boolean {
  const stat = fstatSync(descriptor, { bigint: true });
  return stat.isCharacterDevice() && stat.rdev !== nullDevice() && open().isTTY === true;
}

function nullDevice(): bigint | undefined {
  return statSync(devNull, { bigint: true, throwIfNoEntry: false })?.rdev;
}

/** What could not be written: a pipe may be full and not wait, or have no reader; the stream knows what to do. */
function writeStraight(descriptor: number, data: string | Uint8Array): Uint8Array {
  let rest = typeof data === "string" ? Buffer.from(data) : data;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
  } catch {
    // Said above.
  }
  return rest;
}

/** Whoever reads may stop reading (`paylink … | head`): that is no fault, and the work goes on. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}
