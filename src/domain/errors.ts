/** The closed table of failures: each code with its exit and what to do next; the only errors that commands throw. */

interface Failure {
  /** The process's exit code. */
  readonly exit: number;
  /** What to do next, where the code alone can tell; an error may say something more exact. */
  readonly hint?: string;
}

export const FAILURES = {
  internal: { exit: 1, hint: "This is a fault in paylink; please report it with the text above." },
  usage: { exit: 2 },
  file_unreadable: { exit: 2 },
  file_unwritable: { exit: 2 },
  input_changed: { exit: 2 },
  already_running: { exit: 2 },
  key_required: { exit: 2 },
  key_invalid: { exit: 2, hint: "A key is a PEM (SPKI, PKCS#1 or certificate), a JWK or a JWKS." },
  event_not_found: { exit: 2, hint: "paylink events list   shows what there is." },
  port_in_use: { exit: 2, hint: "Give another --port, or --port 0 for a free one." },
  no_profile: {
    exit: 3,
    hint: "paylink sandbox   to work on this machine\npaylink login     for a real account",
  },
  no_token: { exit: 3, hint: "paylink login     stores one; PAYLINK_TOKEN gives one for a single run" },
  not_taken: { exit: 4, hint: "They are kept; replay them when your application takes them." },
  unauthorized: { exit: 3, hint: "Check the token and the terminal: paylink login" },
  refused: { exit: 4, hint: "Nothing was created. Mend what the service names, then run it again." },
  redirected: { exit: 4, hint: "A token is never sent along a redirect. Check the base URL." },
  not_reached: { exit: 5, hint: "Nothing was created; it is safe to run this again." },
  overloaded: { exit: 5, hint: "Nothing was created; it is safe to run this again later." },
  outcome_unknown: {
    exit: 6,
    hint: "The link may exist. Look for it at the service before creating it again.",
  },
  signature_rejected: { exit: 7 },
  check_failed: { exit: 7 },
  waited_in_vain: { exit: 8 },
  payment_failed: { exit: 9 },
  interrupted: { exit: 130 },
  terminated: { exit: 143 },
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

  get exit(): number {
    return FAILURES[this.code].exit;
  }
}
