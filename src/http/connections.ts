/** Limits the memory that senders can hold: where connections take too much, some of them are closed. */
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";

/** Bytes over all connections and their bodies: about 4,000 connections that send nothing, or 800 with 64 KiB of body each. */
export const MAX_HELD = 64 * 1024 * 1024;
/** Bytes of a connection with the head of its request, which Node limits to 16 KiB. */
const CONNECTION = 16 * 1024;
/** All are looked at again once this part of them is new: to look at all for each that a flood opens would take too long. */
const UNSEEN = 1 / 32;

export interface TrackedConnections {
  /** The connection is new and waits for its first request. */
  readonly opened: (socket: Socket) => void;
  /** The body of the request takes this many more bytes. */
  readonly hold: (socket: Socket, bytes: number) => void;
  /** The request is complete: its connection is kept until it has been answered. */
  readonly complete: (socket: Socket) => void;
  /** The request was answered: its connection waits again. */
  readonly answered: (socket: Socket) => void;
  /** Closes every connection that waits for a request or for the rest of one. */
  readonly dropWaiting: () => void;
}

/**
 * Makes room by closing connections of the larger of two kinds, the one that has waited for longest first: those that have sent
 * nothing since they were opened or answered, and those whose request is incomplete. A flood is mostly of one kind, so it closes
 * its own connections. The newest connection is closed last: under a flood it is the honest sender's.
 */
export function trackConnections(maxHeld = MAX_HELD): TrackedConnections {
  /** The bytes of each open connection. */
  const sizes = new Map<Socket, number>();
  let held = 0;
  /** Connections that have sent nothing, with the bytes that they had sent before. */
  const silent = new Map<Socket, number>();
  /** Connections that have sent a part of a request. */
  const incomplete = new Set<Socket>();
  /** How many were opened since all were looked at. */
  let unseen = 0;
  const resize = (socket: Socket, size: number): void => {
    held += size - (sizes.get(socket) ?? 0);
    sizes.set(socket, size);
  };
  const settle = (socket: Socket): void => {
    silent.delete(socket);
    incomplete.delete(socket);
  };
  const forget = (socket: Socket): void => {
    held -= sizes.get(socket) ?? 0;
    sizes.delete(socket);
    settle(socket);
  };
  const drop = (socket: Socket): void => {
    forget(socket);
    socket.destroy();
  };
  /** Whether it is silent. Nothing tells when the first byte arrives: it is found out by looking. */
  const look = (socket: Socket): boolean => {
    if (silent.get(socket) === socket.bytesRead) return true;
    silent.delete(socket);
    incomplete.add(socket);
    return false;
  };
  const lookAtAll = (): void => {
    for (const socket of silent.keys()) look(socket);
    unseen = 0;
  };
  /** Closes one, or finds that it is not silent any more. */
  const dropOne = (): boolean => {
    if (unseen >= sizes.size * UNSEEN) lookAtAll();
    const isSilent = silent.size >= incomplete.size;
    const [first] = isSilent ? silent.keys() : incomplete;
    if (first !== undefined && !(isSilent && !look(first))) drop(first);
    return first !== undefined;
  };
  const makeRoom = (): void => {
    let isFull = held > maxHeld;
    while (isFull) isFull = dropOne() && held > maxHeld;
  };
  const wait = (socket: Socket): void => {
    resize(socket, CONNECTION);
    silent.set(socket, socket.bytesRead);
  };
  return {
    opened: (socket) => {
      socket.once("close", () => forget(socket));
      if (socket.destroyed) return;
      wait(socket);
      unseen += 1;
      makeRoom();
    },
    hold: (socket, bytes) => {
      const size = sizes.get(socket);
      if (size === undefined) return;
      resize(socket, size + bytes);
      makeRoom();
    },
    complete: settle,
    answered: (socket) => {
      settle(socket);
      if (sizes.has(socket)) wait(socket);
    },
    dropWaiting: () => [...incomplete, ...silent.keys()].forEach(drop),
  };
}

/** A connection waits from its TCP handshake on; after the TLS handshake, the secure socket takes its place. */
export function trackHandshakes(secure: TlsServer, connections: TrackedConnections): void {
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
