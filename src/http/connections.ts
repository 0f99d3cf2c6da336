/** Bounds what senders can hold: connections and unfinished bodies, of which those that wait longest go first. */
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";

/**
 * More than any service opens, and fewer than the 1024 files that many a process may have open: what lies idle beyond
 * it makes room for who comes next.
 */
const MAX_CONNECTIONS = 800;
/** Bytes of unfinished bodies, over all connections. */
const MAX_UNFINISHED = 64 * 1024 * 1024;

export interface Connections {
  /** A connection was made: it waits for its first request. */
  readonly opened: (socket: Socket) => void;
  /** So many more bytes of a body have come. */
  readonly received: (socket: Socket, bytes: number) => void;
  /** The request is whole: the connection is safe until it has been answered. */
  readonly whole: (socket: Socket) => void;
  /** The request was answered: the connection waits again. */
  readonly answered: (socket: Socket) => void;
  /** Ends every connection that waits for a request, or for the rest of one. */
  readonly dropWaiting: () => void;
}

export function trackConnections(): Connections {
  /** The bytes that each waiting connection holds, the longest waiting first. */
  const waiting = new Map<Socket, number>();
  let unfinished = 0;
  const leave = (socket: Socket): void => {
    unfinished -= waiting.get(socket) ?? 0;
    waiting.delete(socket);
  };
  const wait = (socket: Socket): void => {
    leave(socket);
    if (!socket.destroyed) waiting.set(socket, 0);
  };
  const makeRoom = (): void => {
    for (const [socket, bytes] of waiting) {
      const crowded = waiting.size > MAX_CONNECTIONS;
      if (!crowded && unfinished <= MAX_UNFINISHED) return;
      if (crowded || bytes > 0) drop(socket);
    }
  };
  const drop = (socket: Socket): void => {
    leave(socket);
    socket.destroy();
  };
  return {
    opened: (socket) => {
      socket.once("close", () => leave(socket));
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
    whole: leave,
    answered: wait,
    dropWaiting: () => [...waiting.keys()].forEach(drop),
  };
}

/** Who never finishes a handshake waits like everybody else; who does is from then on known by the secured socket. */
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
    if (bare !== undefined) connections.whole(bare);
    connections.opened(secured);
  });
}
