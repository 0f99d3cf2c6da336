/** What each exit code tells a script: the closed list that every failure's own code leads to. */

export const EXIT_CODES = {
  0: "done",
  1: "a fault in paylink itself",
  2: "wrong use: every problem is named at once, each by the flag (or file and line) that caused it",
  3: "not authorised: no profile, no token, token expired, 401, 403",
  4: "the service refused with another 4xx, or with a redirect",
  5: "not reached: nothing was created, and it is safe to run again",
  6: "unknown outcome: the request left and no usable answer came; the link may exist",
  7: "a signature did not verify, or an endpoint failed its check",
  8: "waited in vain: --timeout passed first",
  9: "the awaited payment was declined or cancelled",
  130: "interrupted, after finishing what was in hand",
  143: "terminated, after finishing what was in hand",
} as const;

export type ExitCode = keyof typeof EXIT_CODES;
