/** The closed table of failures: each code with its exit and what to do next; the only errors that commands throw. */
import type { ExitCode } from "./exit-codes.ts";

interface Failure {
  /** The process's exit code. */
  readonly exit: ExitCode;
  /** What the code stands for, whatever the case at hand: the list of codes shows it. */
  readonly means: string;
  /** What to do next, where the code alone can tell; an error may say something more exact. */
  readonly hint?: string;
}

export const FAILURES = {
  internal: {
    exit: 1,
    means: "a fault in paylink itself",
    hint: "This is a fault in paylink; please report it with the text above.",
  },
  usage: { exit: 2, means: "an unknown command or flag, or a value that is missing or invalid" },
  file_unreadable: { exit: 2, means: "a file cannot be read, or holds something else than it should" },
  file_unwritable: { exit: 2, means: "a file cannot be written" },
  input_changed: { exit: 2, means: "a list of bulk was changed since it was sent" },
  already_running: { exit: 2, means: "another run of bulk is sending the same list" },
  key_required: { exit: 2, means: "there is no key to verify webhooks with" },
  key_invalid: {
    exit: 2,
    means: "a key is none, or is not allowed",
    hint: "A key is a PEM (SPKI, PKCS#1 or certificate), a JWK or a JWKS.",
  },
  event_not_found: {
    exit: 2,
    means: "no stored event has that uti or id",
    hint: "paylink events list   shows what there is.",
  },
  port_in_use: {
    exit: 2,
    means: "another program listens on that port",
    hint: "Give another --port, or --port 0 for a free one.",
  },
  no_profile: {
    exit: 3,
    means: "there is no account to work with",
    hint: "paylink sandbox   to work on this machine\npaylink login     for a real account",
  },
  no_token: {
    exit: 3,
    means: "there is no token to work with",
    hint: "paylink login     stores one; PAYLINK_TOKEN gives one for a single run",
  },
  unauthorized: {
    exit: 3,
    means: "the service answered 401 or 403",
    hint: "Check the token and the terminal: paylink login",
  },
  refused: {
    exit: 4,
    means: "the service answered another 4xx",
    hint: "Nothing was created. Mend what the service names, then run it again.",
  },
  redirected: {
    exit: 4,
    means: "the service answered with a redirect",
    hint: "A token is never sent along a redirect. Check the base URL.",
  },
  not_taken: {
    exit: 4,
    means: "your application did not take every replayed event",
    hint: "They are kept; replay them when your application takes them.",
  },
  not_reached: {
    exit: 5,
    means: "the connection was refused, or its name or certificate is wrong",
    hint: "Nothing was created; it is safe to run this again.",
  },
  overloaded: {
    exit: 5,
    means: "the service answered 429 or 503, again after each retry",
    hint: "Nothing was created; it is safe to run this again later.",
  },
  outcome_unknown: {
    exit: 6,
    means: "the request left, and no usable answer came",
    hint: "The link may exist. Look for it at the service before creating it again.",
  },
  signature_rejected: { exit: 7, means: "a webhook did not verify" },
  check_failed: { exit: 7, means: "an endpoint took what it must refuse, or refused what it must take" },
  timed_out: { exit: 8, means: "--timeout passed before the expected payment or webhook arrived" },
  payment_failed: { exit: 9, means: "the awaited payment was declined or cancelled" },
  interrupted: { exit: 130, means: "Ctrl-C (SIGINT)" },
  terminated: { exit: 143, means: "SIGTERM" },
} as const satisfies Record<string, Failure>;

export type FailureCode = keyof typeof FAILURES;

/** One thing wrong with what the user gave: where it stands (a flag, a field, a file and line) and what it should be. */
export interface Problem {
  readonly at: string;
  readonly message: string;
}

interface FailureOptions {
  /** Replaces the code's own hint. */
  readonly hint?: string | undefined;
  /** Every problem behind the message, named at once. */
  readonly problems?: readonly Problem[];
  /** Facts for scripts: what `--json` carries as `details`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class PaylinkError extends Error {
  readonly code: FailureCode;
  readonly hint: string | undefined;
  readonly problems: readonly Problem[];
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "PaylinkError";
    this.code = code;
    const failure: Failure = FAILURES[code];
    this.hint = options.hint ?? failure.hint;
    this.problems = options.problems ?? [];
    this.details = options.details ?? {};
  }

  get exit(): ExitCode {
    return FAILURES[this.code].exit;
  }
}

/** The error's own words, whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
