/** Limits the connections and unfinished bodies that senders can hold: those that wait longest are dropped first. */
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";

/**
 * More than any service opens, and fewer than the usual limit of 1024 open files. Beyond it, idle connections make room
 * for new ones.
 */
const MAX_CONNECTIONS = 800;
/** Bytes of unfinished bodies over all connections. */
const MAX_UNFINISHED = 64 * 1024 * 1024;

export interface Connections {
  /** The connection is new and waits for its first request. */
  readonly opened: (socket: Socket) => void;
  /** More bytes of a body arrived. */
  readonly received: (socket: Socket, bytes: number) => void;
  /** The request is complete: its connection is kept until it has been answered. */
  readonly complete: (socket: Socket) => void;
  /** The request was answered: its connection waits again. */
  readonly answered: (socket: Socket) => void;
  /** Closes every connection that waits for a request or for the rest of one. */
  readonly dropWaiting: () => void;
}

export function trackConnections(): Connections {
  /** The bytes that each waiting connection holds, the longest waiting first. */
  const waiting = new Map<Socket, number>();
  let unfinished = 0;
  const untrack = (socket: Socket): void => {
    unfinished -= waiting.get(socket) ?? 0;
    waiting.delete(socket);
  };
  const wait = (socket: Socket): void => {
    untrack(socket);
    if (!socket.destroyed) waiting.set(socket, 0);
  };
  const makeRoom = (): void => {
    for (const [socket, bytes] of waiting) {
      const tooMany = waiting.size > MAX_CONNECTIONS;
      if (!tooMany && unfinished <= MAX_UNFINISHED) return;
      if (tooMany || bytes > 0) drop(socket);
    }
  };
  const drop = (socket: Socket): void => {
    untrack(socket);
    socket.destroy();
  };
  return {
    opened: (socket) => {
      socket.once("close", () => untrack(socket));
      wait(socket);
      makeRoom();
    },
    received: (socket, bytes) => {
      const held = waiting.get(socket);
      if (held === undefined) return;
      waiting.set(socket, held + bytes);
      unfinished += bytes;
      makeRoom();
    },
    complete: untrack,
    answered: wait,
    dropWaiting: () => [...waiting.keys()].forEach(drop),
  };
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
