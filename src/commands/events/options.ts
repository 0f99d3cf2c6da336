/** What each subcommand of `events` is run with. */
import type { EventFilter } from "../../receiver/event-store.ts";
import type { Route } from "../../receiver/forward.ts";

interface Database {
  /** Where events are kept: a file or a URL; undefined is the default location. */
  readonly database: string | undefined;
}

export interface ExportOptions extends Database {
  readonly filter: EventFilter;
}

export interface ListOptions extends ExportOptions {
  readonly rejected: boolean;
  readonly quiet: boolean;
}

export interface ShowOptions extends Database {
  /** The uti or the id, or the start of one. */
  readonly name: string;
}

export interface ReplayOptions extends ExportOptions {
  /** The events to send; if there are none, all that pass the filter. */
  readonly names: readonly string[];
  readonly routes: readonly Route[];
  readonly insecure: boolean;
  /** The file of the private key that signs each event again; undefined sends the service's signature. */
  readonly signWith: string | undefined;
  /** Milliseconds. */
  readonly timeout: number | undefined;
  readonly quiet: boolean;
}

export interface PruneOptions extends Database {
  readonly before: Date;
}
