/** The application of a simulated world, and what it knows: which webhooks it got, from whom, and what it answered. */
import type { AttemptResult } from "../../src/receiver/attempt.ts";
import type { HttpRequest } from "../../src/http/message.ts";
import { nameIn } from "../support/forwarding.ts";
import type { Receiver } from "./receiver.ts";

/** A request that the application has not answered yet. */
export interface Request {
  readonly uti: string;
  readonly receiver: Receiver;
  readonly since: number;
  readonly end: (result: AttemptResult) => void;
}

/** How an attempt can end, and what a receiver then knows. */
export const ANSWERS = {
  ok: answered(200),
  "no content": answered(204),
  "not found": answered(404),
  error: answered(500),
  busy: answered(503),
  "busy for a while": answered(503, "20"),
  limited: answered(429),
  lost: { kind: "noAnswer", why: "the connection was closed", failure: "closed", sent: true },
  "not reached": { kind: "notReached", why: "nothing listens there", failure: "refused" },
} satisfies Record<string, AttemptResult>;

export type Answer = keyof typeof ANSWERS;

export const TIMED_OUT: AttemptResult = {
  kind: "noAnswer",
  why: "no answer",
  failure: "timeout",
  sent: true,
};

function answered(status: number, retryAfter?: string): AttemptResult {
  const headers = retryAfter === undefined ? [] : [["Retry-After", retryAfter] as const];
  return { kind: "answered", status, headers, body: new Uint8Array() };
}

export const utiOf = (request: HttpRequest): string => `uti-${nameIn(request)}`;
