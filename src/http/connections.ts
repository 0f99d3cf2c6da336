/** Limits the connections that senders can hold: those that sent nothing are closed first, then those that wait longest. */
import type { Server as TlsServer } from "node:https";
import type { Server, Socket } from "node:net";
import { report } from "node:process";

/** More than any service opens. A sender has a second to send something where 2,000 idle ones are opened each second. */
const MAX_CONNECTIONS = 3000;
/**
 * New connections that are read in one round of the event loop: a piece of one-byte chunks takes 10 ms and more to parse,
 * and every sender waits for the round.
 */
const STARTS = 4;
/** Open files that are reserved for the store, its thread and the forwarding. */
const RESERVED_FILES = 200;
/** The usual limit of open files, if the system does not tell. */
const USUAL_FILES = 1024;

export interface Connections {
  /** The connection is new and waits for its first request. */
  readonly opened: (socket: Socket) => void;
  /** The request is complete: its connection is kept until it has been answered. */
  readonly complete: (socket: Socket) => void;
  /** The request was answered: its connection waits again. */
  readonly answered: (socket: Socket) => void;
  /** Closes every connection that waits for a request or for the rest of one. */
  readonly dropWaiting: () => void;
}

export function trackConnections(): Connections {
  const most = Math.min(MAX_CONNECTIONS, Math.max(1, maxOpenFiles() - RESERVED_FILES));
  /** Connections that had sent nothing when last looked at, and all others; the longest waiting first. */
  const silent = new Set<Socket>();
  const heard = new Set<Socket>();
  const start = createStarts();
  const untrack = (socket: Socket): void => {
    silent.delete(socket);
    heard.delete(socket);
  };
  const drop = (socket: Socket): void => {
    untrack(socket);
    socket.destroy();
  };
  const makeRoom = (): void => {
    if (silent.size + heard.size <= most) return;
    for (const socket of silent) {
      if (socket.bytesRead === 0) return drop(socket);
      silent.delete(socket);
      heard.add(socket);
    }
    const [longest] = heard;
    if (longest !== undefined) drop(longest);
  };
  return {
    opened: (socket) => {
      socket.once("close", () => untrack(socket));
      if (socket.destroyed) return;
      silent.add(socket);
      makeRoom();
      start(socket);
    },
    complete: untrack,
    answered: (socket) => {
      untrack(socket);
      if (!socket.destroyed) heard.add(socket);
    },
    dropWaiting: () => [...silent, ...heard].forEach(drop),
  };
}

/** Starts to read connections: the first ones at once, the others in the next rounds of the event loop. */
function createStarts(): (socket: Socket) => void {
  const waiting: Socket[] = [];
  let started = 0;
  const nextRound = (): void => {
    const next = waiting.splice(0, STARTS);
    for (const socket of next) socket.resume();
    started = next.length;
    if (started > 0) setImmediate(nextRound);
  };
  return (socket) => {
    if (started === 0) setImmediate(nextRound);
    if (started < STARTS) started += 1;
    else waiting.push(socket.pause());
  };
}

export const countOpen = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });

function maxOpenFiles(): number {
  // With the network, the report would look up the name of each connected address.
  Object.assign(report, { excludeNetwork: true });
  const limits = JSON.stringify(report.getReport());
  const [, files] = /"open_files":\{"soft":"?(\d+|unlimited)/.exec(limits) ?? [];
  if (files === undefined) return USUAL_FILES;
  return files === "unlimited" ? Infinity : Number(files);
}

/** A connection waits from its TCP handshake on; after the TLS handshake, the secure socket takes its place. */
export function trackHandshakes(secure: TlsServer, connections: Connections): void {
  const handshakes = new Map<string, Socket>();
  const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  secure.on("connection", (bare: Socket) => {
    const name = nameOf(bare);
    handshakes.set(name, bare);
    bare.once("close", () => handshakes.delete(name));
    connections.opened(bare);
  });
  secure.on("secureConnection", (secured: Socket) => {
    const bare = handshakes.get(nameOf(secured));
    if (bare !== undefined) connections.complete(bare);
    connections.opened(secured);
  });
}
