/** How connections are made: names of this machine, both families of addresses, and what undici cannot read from a socket. */
import { lookup, type LookupAddress } from "node:dns";
import type { LookupFunction, Socket } from "node:net";
import { isLoopback } from "../values/addresses.ts";

/**
 * Milliseconds that one address of a name may take while there is another one. Node's own 250 are less than a connection takes
 * across a slow network, and then none of them is reached.
 */
const ATTEMPT_TIMEOUT = 1_000;

/** Options of `net.connect` for every connection. */
export const CONNECT_OPTIONS = {
  lookup: lookUp,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT,
} as const;

/** Both, whatever the resolver knows (RFC 6761 6.3): an application may listen at one of them alone. */
const LOOPBACK: LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

function lookUp(...[name, options, callback]: Parameters<LookupFunction>): void {
  if (!isLoopback(name)) lookup(name, options, callback);
  else callback(null, LOOPBACK);
}

/**
 * Gives undici no `100 Continue` that nobody asked for: it would end the connection there, while a client must skip it (RFC 9110 15.2).
 * Renamed to 102, it is skipped like every other interim response. One response at a time arrives on a connection, so its head can
 * only begin after the request was written.
 */
export function skipContinue(socket: Socket): void {
  const read = socket.read.bind(socket);
  /** The bytes that were written before the last final head. */
  let answered = 0;
  socket.read = (size) => {
    const chunk: unknown = read(size);
    if (chunk instanceof Buffer && socket.bytesWritten > answered && !endsBeforeHead(chunk))
      answered = socket.bytesWritten;
    return chunk;
  };
}

/** Whether the chunk ends before the head of the final response. Renames each 100 in it, and spoils a status that HTTP does not have. */
function endsBeforeHead(chunk: Buffer): boolean {
  let at = 0;
  while (at < chunk.length) {
    const start = chunk.toString("latin1", at, at + 12);
    // undici asserts that no status is below 100, and Node takes seconds to describe the assertion. The parser refuses this text.
    if (/^HTTP\/1\.[01] 0\d\d/.test(start)) chunk.write("?", at + 9, "latin1");
    if (!/^HTTP\/1\.[01] 1\d\d/.test(start)) return false;
    // Of HTTP/1.0 too, whose connection undici would take to end there.
    if (chunk.toString("latin1", at + 9, at + 12) === "100") chunk.write("HTTP/1.1 102", at, "latin1");
    const end = chunk.indexOf("\r\n\r\n", at);
    if (end < 0) return true;
    at = end + 4;
  }
  return true;
}
