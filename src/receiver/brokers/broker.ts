/** What the brokers have in common: the message, the connection that publishes it, and how to log in. */
import type { BrokerName, BrokerVariable } from "./addresses.ts";

/** A webhook as a message. */
export interface BrokerMessage {
  /** The same for each delivery of a record, so that the broker and its consumers recognise repeats. */
  readonly id: string;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** The configuration of a broker would lose acknowledged messages, or refuse all of them. */
export class CannotKeep extends Error {}

/** The broker has said that it does not hold the message, or the message was not sent: it is stored nowhere. */
export class MessageRefused extends Error {}

/** A connection to a broker, for one target. */
export interface BrokerSession {
  /** Resolves once the broker has confirmed that it holds the message; rejects with the reason why not, and with `MessageRefused` where it is certain. */
  publish(message: BrokerMessage, timeout: number): Promise<void>;
  /**
   * Asks the broker whether it can keep and confirm a message. Rejects if it takes none now, and with `CannotKeep` if its
   * configuration must change. Resolves with warnings: what may still lose a message.
   */
  check(): Promise<readonly string[]>;
  /** Resolves when the connection has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  close(): Promise<void>;
}

/** Bytes of a message, or of a line, that a broker sends. What it confirms or says of itself has some hundred, at most some thousand. */
export const LONGEST_REPLY = 1024 * 1024;

/** How to log in, from the environment. */
export interface BrokerLogin {
  readonly value: (variable: BrokerVariable) => string | undefined;
  /** The text of the file that a variable names. */
  readonly file: (variable: BrokerVariable) => Promise<string | undefined>;
  /** The texts of the PEM files that the variables name. */
  readonly tlsFiles: (broker: BrokerName) => Promise<{ ca?: string; cert?: string; key?: string }>;
  readonly insecure: boolean;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Returns a function that makes a new connection to a broker each time it is called. Rejects if a file to log in with cannot be read. */
export type Connector = (url: URL, login: BrokerLogin) => Promise<() => Promise<BrokerSession>>;
