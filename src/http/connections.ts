/** Limits the memory that senders can hold: idle connections are closed first, then the request that is incomplete for longest. */
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";

/** Bytes over all connections and their bodies: about 4,000 connections that send nothing, or 800 with 64 KiB of body each. */
export const MAX_HELD = 64 * 1024 * 1024;
/** Bytes of a connection with the head of its request, which Node limits to 16 KiB. */
const CONNECTION = 16 * 1024;

export type Connections = ReturnType<typeof trackConnections>;

/**
 * Makes room by closing connections in this order: those that were answered and have sent nothing since, then those whose
 * request is incomplete, the oldest first. The newest connection is closed last: under a flood it is the honest sender's.
 */
export function trackConnections(maxHeld = MAX_HELD) {
  /** The bytes of each open connection. */
  const sizes = new Map<Socket, number>();
  let held = 0;
  /** Connections without a complete request; the oldest first. */
  const incomplete = new Set<Socket>();
  /** Answered connections with the bytes they had sent until then; the longest idle first. */
  const idle = new Map<Socket, number>();
  const resize = (socket: Socket, size: number): void => {
    held += size - (sizes.get(socket) ?? 0);
    sizes.set(socket, size);
  };
  const forget = (socket: Socket): void => {
    held -= sizes.get(socket) ?? 0;
    sizes.delete(socket);
    incomplete.delete(socket);
    idle.delete(socket);
  };
  const drop = (socket: Socket): void => {
    forget(socket);
    socket.destroy();
  };
  const dropOne = (): boolean => {
    for (const [socket, bytesRead] of idle) {
      if (socket.bytesRead === bytesRead) return (drop(socket), true);
      idle.delete(socket);
      incomplete.add(socket);
    }
    const [oldest] = incomplete;
    if (oldest !== undefined) drop(oldest);
    return oldest !== undefined;
  };
  const makeRoom = (): void => {
    if (held > maxHeld && dropOne()) makeRoom();
  };
  return {
    /** The connection is new and waits for its first request. */
    opened: (socket: Socket): void => {
      socket.once("close", () => forget(socket));
      if (socket.destroyed) return;
      resize(socket, CONNECTION);
      incomplete.add(socket);
      makeRoom();
    },
    /** The body of the request takes this many more bytes. */
    hold: (socket: Socket, bytes: number): void => {
      const size = sizes.get(socket);
      if (size === undefined) return;
      resize(socket, size + bytes);
      makeRoom();
    },
    /** The request is complete: its connection is kept until it has been answered. */
    complete: (socket: Socket): void => {
      incomplete.delete(socket);
      idle.delete(socket);
    },
    /** The request was answered: its connection waits again. */
    answered: (socket: Socket): void => {
      incomplete.delete(socket);
      idle.delete(socket);
      if (!sizes.has(socket)) return;
      resize(socket, CONNECTION);
      idle.set(socket, socket.bytesRead);
    },
    /** Closes every connection that waits for a request or for the rest of one. */
    dropWaiting: (): void => [...incomplete, ...idle.keys()].forEach(drop),
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
