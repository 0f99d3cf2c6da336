/** Limits the connections that senders can hold: idle ones are closed first, then the request that is incomplete for longest. */
import type { Server as TlsServer } from "node:https";
import type { Server, Socket } from "node:net";
import { report } from "node:process";

/**
 * More than any service opens. A sender loses its connection only if this many newer ones arrive before its request is
 * complete.
 */
const MAX_CONNECTIONS = 10_000;
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

/**
 * Makes room by closing connections in this order: those that were answered and have sent nothing since, then those whose
 * request is incomplete, the oldest first. The newest connection is never closed: under a flood it is the honest sender's.
 */
export function trackConnections(most = MAX_CONNECTIONS): Connections {
  const limit = Math.min(most, Math.max(1, maxOpenFiles() - RESERVED_FILES));
  /** Connections without a complete request; the oldest first. */
  const incomplete = new Set<Socket>();
  /** Answered connections with the bytes they had sent until then; the longest idle first. */
  const idle = new Map<Socket, number>();
  const start = createStarts();
  const untrack = (socket: Socket): void => {
    incomplete.delete(socket);
    idle.delete(socket);
  };
  const drop = (socket: Socket): void => {
    untrack(socket);
    socket.destroy();
  };
  const makeRoom = (): void => {
    if (incomplete.size + idle.size <= limit) return;
    for (const [socket, bytesRead] of idle) {
      if (socket.bytesRead === bytesRead) return drop(socket);
      idle.delete(socket);
      incomplete.add(socket);
    }
    const [oldest] = incomplete;
    if (oldest !== undefined) drop(oldest);
  };
  return {
    opened: (socket) => {
      socket.once("close", () => untrack(socket));
      if (socket.destroyed) return;
      incomplete.add(socket);
      makeRoom();
      start(socket);
    },
    complete: untrack,
    answered: (socket) => {
      untrack(socket);
      if (!socket.destroyed) idle.set(socket, socket.bytesRead);
    },
    dropWaiting: () => [...incomplete, ...idle.keys()].forEach(drop),
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
