/** Skips `100 Continue`, which some servers send without being asked: RFC 9110 15.2 allows clients to, but undici fails. */
import type { Socket } from "node:net";

const STATUS_LINE = "HTTP/1.1 100";
const HEAD_END = "\r\n\r\n";
/** A longer interim response is left to undici, which refuses it. */
const LONGEST_HEAD = 4096;

/** Replaces `read` of the socket by one without these responses. Looks for them only at the start of a reply. */
export function skipContinue(socket: Socket): void {
  const read = socket.read.bind(socket);
  let held: Buffer = Buffer.alloc(0);
  /** The bytes of requests that were sent when the current reply began. */
  let repliedTo = -1;
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (!(chunk instanceof Buffer) || repliedTo === socket.bytesWritten) return chunk;
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const rest = withoutContinue(bytes);
    held = rest ?? bytes;
    if (rest === undefined || rest.length === 0) return null;
    held = Buffer.alloc(0);
    repliedTo = socket.bytesWritten;
    return rest;
  };
}

/** Undefined while the bytes may be the start of a `100 Continue`. */
function withoutContinue(bytes: Buffer): Buffer | undefined {
  let rest = bytes;
  for (;;) {
    const start = rest.subarray(0, LONGEST_HEAD).toString("latin1");
    if (rest.length < STATUS_LINE.length && STATUS_LINE.startsWith(start))
      return start === "" ? rest : undefined;
    if (!start.startsWith(STATUS_LINE)) return rest;
    const end = start.indexOf(HEAD_END);
    if (end < 0) return rest.length < LONGEST_HEAD ? undefined : rest;
    rest = rest.subarray(end + HEAD_END.length);
  }
}
