/** What a forwarder is: it plans what becomes of each verified webhook, and answers the service. */
import type { HttpReply } from "../http/message.ts";
import type { AttemptParts } from "./attempt.ts";
import type { ForwardState, EventLog, Forward, NewEvent, Stored, WebhookEvent } from "../events/event.ts";
import type { Route } from "./outcome-routes.ts";

/** Milliseconds that a claim lasts longer than an attempt may take: to begin it, and to write how it ended. */
export const CLAIM_MARGIN = 10_000;

/** An attempt of the queue and its consequence. */
export interface ForwardingProgress {
  readonly attempt: number;
  readonly state: ForwardState;
  /** When the next attempt is due; null without a next attempt. */
  readonly next: Date | null;
}

export interface ForwarderParts extends AttemptParts {
  readonly routes: readonly Route[];
  readonly log: Pick<EventLog, "ended">;
  /** `first` is the id of the event's first delivery, `id` of the one that is forwarded. */
  readonly observe: (
    event: Pick<WebhookEvent, "id" | "request" | "verdict"> & { readonly first: string },
    forward: Forward,
    progress?: ForwardingProgress,
  ) => void;
  readonly warn: (text: string) => void;
}

export interface Forwarder {
  /** Plans an event that was just verified; undefined if it is not forwarded. */
  readonly plan: (event: NewEvent) => Plan | undefined;
  /** Forwards what waits in the queue. */
  readonly start: () => void;
  /** Finishes the attempts in progress; the rest is left to other receivers. */
  readonly close: () => Promise<void>;
}

/** What becomes of an event once it is stored. */
export interface Plan {
  /** As `EventLog.append` takes it. */
  readonly lease: number;
  /** Resolves with the answer for the service. */
  readonly forward: (event: WebhookEvent, stored: Stored) => Promise<HttpReply>;
}

/** An answer that says what was behind it, in the words of RFC 9209. */
export const replyFor = (
  status: number,
  behind: string,
  { headers, body }: Pick<HttpReply, "headers" | "body"> = { headers: [], body: new Uint8Array() },
): HttpReply => ({ status, headers: [...headers, ["Proxy-Status", `paylink; ${behind}`]], body });
