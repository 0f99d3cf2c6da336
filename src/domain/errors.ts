/** The closed table of failures: each code with its exit code, its meaning and the next step. Commands throw only these. */
import { type Hint, hint, paylink } from "./hint.ts";
import type { ServiceEffect } from "./operations.ts";
import { sentence } from "../values/sentence.ts";

/** What a request does at the service if it succeeds, or a command with webhooks. */
export type Effect = ServiceEffect | WebhookEffect;
export type WebhookEffect = "receive" | "verify" | "send" | "check" | "replay" | "retry" | "skip";

/** What each exit code tells a script. */
export const EXIT_CODES = {
  0: "success",
  1: "a bug in paylink, or its output could not be written; the answer of the service is shown first",
  2: "wrong usage: every problem is listed, each with its flag (or file and line); or a file, key, event, port or database cannot be used",
  3: "not authorised: no profile, no token, expired token, 401 or 403",
  4: "refused by the service: a 4xx other than 401, 403, 408, 425 and 429, or a redirect; or by your application",
  5: "not reached: nothing was created, so it is safe to run the command again",
  6: "unknown outcome: the request was sent, and no usable answer arrived, or a 408 or 425; the link may exist",
  7: "a signature did not verify, or an endpoint failed its check",
  8: "timed out",
  9: "the link was cancelled or expired before it was paid (create --wait)",
  10: "records that must agree do not",
  130: "interrupted (SIGINT); running requests were completed first",
  143: "terminated (SIGTERM); running requests were completed first",
} as const;

type ExitCode = keyof typeof EXIT_CODES;

interface Failure {
  readonly exit: ExitCode;
  /** The code in general, as `paylink help errors` lists it. */
  readonly means: string;
  /** What it means for the money, if the error names an effect: without this, nothing happened. */
  readonly mayHaveHappened?: true;
  /** The next steps; an error may give more specific ones. */
  readonly hints?: readonly Hint[];
}

export const FAILURES = {
  internal: {
    exit: 1,
    means: "a bug in paylink",
    hints: [hint`This is a bug in paylink. Please report it with the text above.`],
  },
  output_unwritable: {
    exit: 1,
    means: "stdout could not be written; the result of the command is on stderr",
  },
  usage: { exit: 2, means: "unknown command or flag, or a missing or invalid value" },
  file_unreadable: { exit: 2, means: "a file cannot be read, or has the wrong contents" },
  file_unwritable: {
    exit: 2,
    means: "a file cannot be written",
    hints: [
      hint`Check who may write the file and its folder, and whether the disk is read-only or full. PAYLINK_HOME names the folder of paylink's own files.`,
    ],
  },
  database_unreachable: {
    exit: 5,
    means: "the PostgreSQL server of the event store cannot be reached, or accepts no writes now",
  },
  database_unusable: {
    exit: 2,
    means: "the PostgreSQL server refuses the login, lacks a permission, or is not supported",
  },
  broker_unusable: {
    exit: 2,
    means: "the broker of --forward-to is set up so that it could not keep or confirm a message",
  },
  key_required: {
    exit: 2,
    means: "no key to verify webhooks with",
    hints: [
      hint`Name the service's public key, a file or an https URL, with --key.`,
      hint`To register a profile that has one: ${paylink`sandbox`}`,
      hint`To store a real account, and its key with --webhook-key: ${paylink`login`}`,
    ],
  },
  key_invalid: {
    exit: 2,
    means: "a key cannot be read, or is not allowed",
    hints: [
      hint`A key is a PEM (SPKI, PKCS#1 or certificate), its DER, a JWK, a list or set of JWKs, or the base64 of one of them.`,
    ],
  },
  event_not_found: {
    exit: 2,
    means: "no stored event has this uti, id or order number",
    hints: [hint`To list the stored events: ${paylink`events list`}`],
  },
  port_in_use: {
    exit: 2,
    means: "another program listens on this port",
    hints: [hint`Use another --port, or --port 0 for a free one.`],
  },
  no_profile: {
    exit: 3,
    means: "no account configured",
    hints: [
      hint`To try paylink on this machine: ${paylink`sandbox`}`,
      hint`To use a real account: ${paylink`login`}`,
    ],
  },
  no_token: {
    exit: 3,
    means: "no access token configured",
    hints: [hint`To store a token: ${paylink`login`}`, hint`For a single run, set PAYLINK_TOKEN.`],
  },
  unauthorized: {
    exit: 3,
    means: "the service answered 401 or 403, or gave no access token",
    hints: [hint`Check the token and the terminal: ${{ ...paylink`login`, setting: "token" }}`],
  },
  refused: {
    exit: 4,
    means: "the service refused the request with another 4xx",
    hints: [hint`Fix what the service reports, and run the command again.`],
  },
  redirected: {
    exit: 4,
    means: "the service answered with a redirect",
    hints: [hint`paylink does not send a token to a redirect target. Check the base URL.`],
  },
  not_accepted: {
    exit: 4,
    means: "your application did not accept a webhook",
    hints: [hint`The events are still stored. Replay them when your application is ready.`],
  },
  order_not_found: {
    exit: 4,
    means: "neither the service nor the event store has the order number",
    hints: [
      hint`Check its spelling, the profile and the event store. To see the orders: ${paylink`links list --since 30d`}`,
    ],
  },
  not_reached: {
    exit: 5,
    means: "the service could not be reached (connection refused, DNS, TLS), or gave no usable answer",
    hints: [hint`It is safe to run the command again.`],
  },
  tunnel_failed: { exit: 5, means: "cloudflared is missing, gave no address, or has ended" },
  overloaded: {
    exit: 5,
    means: "the service answered 429 or 503 to every attempt",
    hints: [hint`It is safe to run the command again later.`],
  },
  outcome_unknown: {
    exit: 6,
    means: "the request was sent, but no usable answer arrived",
    mayHaveHappened: true,
  },
  signature_rejected: { exit: 7, means: "a webhook did not verify" },
  check_failed: {
    exit: 7,
    means: "an endpoint accepted what it must refuse, or refused what it must accept",
  },
  timed_out: {
    exit: 8,
    means: "time ran out before an answer, a payment or a webhook arrived, or before every row was sent",
  },
  payment_failed: { exit: 9, means: "the link was cancelled or expired before it was paid" },
  records_differ: {
    exit: 10,
    means:
      "records that must agree do not: what was paid, what arrived and what is booked, or what an application answered before and answers now",
  },
  interrupted: { exit: 130, means: "interrupted by Ctrl-C (SIGINT)" },
  terminated: { exit: 143, means: "terminated by SIGTERM" },
} as const satisfies Record<string, Failure>;

export type FailureCode = keyof typeof FAILURES;

/** One problem in the input: its place (a flag, a field, a file and line) and what the value must be. */
export interface Problem {
  readonly at: string;
  readonly message: string;
  /** The value as it was typed. */
  readonly value?: string;
  /** The value that was probably meant. */
  readonly instead?: string;
  /** The message without its value: the same for all problems of a kind. */
  readonly kind?: string;
}

export const NO_PROBLEMS: readonly Problem[] = [];

/** A problem whose message ends with a value. */
export const problemWith = (value: string, at: string, kind: string): Problem => ({
  at,
  message: `${kind} (${value})`,
  kind,
});

export interface FailureOptions {
  /** What the request, or the command, would have done; undefined if the message says it. */
  readonly effect?: Effect | undefined;
  /** What did not happen, as the last sentence of the message: "Nothing was sent." */
  readonly consequence?: string;
  /** Replace the code's own hints. */
  readonly hints?: readonly Hint[] | undefined;
  /** Every problem behind the message. */
  readonly problems?: readonly Problem[];
  /** The problems that the message does not name; all of them by default. */
  readonly unnamed?: readonly Problem[];
  /** Facts for scripts: `--json` prints them as `details`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class PaylinkError extends Error {
  readonly code: FailureCode;
  readonly effect: Effect | undefined;
  readonly consequence: string | undefined;
  /** The message without the consequence. */
  readonly #said: string;
  readonly hints: readonly Hint[];
  readonly problems: readonly Problem[];
  readonly unnamed: readonly Problem[];
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(
      withConsequence(message, options.consequence),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = "PaylinkError";
    this.code = code;
    const failure: Failure = FAILURES[code];
    this.effect = options.effect;
    this.consequence = options.consequence;
    this.#said = message;
    this.hints = options.hints ?? failure.hints ?? [];
    this.problems = options.problems ?? [];
    this.unnamed = options.unnamed ?? this.problems;
    this.details = options.details ?? {};
  }

  /** The same failure, said otherwise: what is not given stays as it is. */
  with({
    code = this.code,
    message,
    ...changes
  }: FailureOptions & { readonly code?: FailureCode; readonly message?: string }): PaylinkError {
    const { consequence, effect, hints, problems, unnamed, details } = this;
    return new PaylinkError(code, message ?? this.#said, {
      // A new message says all of it.
      ...(message === undefined && consequence !== undefined ? { consequence } : {}),
      effect,
      hints,
      problems,
      details,
      cause: this,
      ...(changes.problems === undefined ? { unnamed } : {}),
      ...changes,
    });
  }

  get exit(): ExitCode {
    return FAILURES[this.code].exit;
  }

  /** Whether a signal ended the command: nothing goes on after it. */
  get isInterruption(): boolean {
    return this.code === "interrupted" || this.code === "terminated";
  }

  /** Whether the effect may have happened in spite of the failure. */
  get mayHaveHappened(): boolean {
    const failure: Failure = FAILURES[this.code];
    return failure.mayHaveHappened === true;
  }
}

const withConsequence = (message: string, consequence: string | undefined): string =>
  consequence === undefined ? sentence(message) : `${sentence(message)} ${consequence}`;
