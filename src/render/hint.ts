/** Advice as text: its commands as a shell reads them, with the profile that the run names. */
import { shellWord, type CommandLine, type Effect, type Hint, type PaylinkError } from "../domain/errors.ts";
import { safeText } from "./safe-text.ts";

/** The commands that use an account. */
const WITH_ACCOUNT: ReadonlySet<string | undefined> = new Set([
  "bulk",
  "config",
  "create",
  "events",
  "links",
  "listen",
  "login",
  "status",
  "transaction",
  "verify",
]);

/** `profile` is the one that the command line or PAYLINK_PROFILE names; without it, the current one is meant. */
export function renderCommand({ words }: CommandLine, profile: string | undefined): string {
  const named = profile !== undefined && WITH_ACCOUNT.has(words[0]) && !words.includes("-p");
  const typed = words.map((word) => (PLACEHOLDER.test(word) ? word : shellWord(word)));
  return ["paylink", ...(named ? ["-p", shellWord(profile)] : []), ...typed].join(" ");
}

/** One line, without the effect of an error. */
export const renderHint = (hint: Hint, profile: string | undefined): string =>
  safeText(hint.map((part) => (typeof part === "string" ? part : renderCommand(part, profile))).join(""));

/** It stands for what the user types there. */
const PLACEHOLDER = /^<[^<>]+>$/;

/** What did not happen, and what may have happened. */
const EFFECTS: Readonly<Record<Effect, { readonly done: string; readonly maybe?: string }>> = {
  create: { done: "created", maybe: "The link may exist." },
  pay: { done: "paid", maybe: "The link may be paid." },
  update: { done: "changed", maybe: "The link may be changed." },
  cancel: { done: "cancelled", maybe: "The link may be cancelled." },
  list: { done: "listed" },
  show: { done: "shown" },
  read: { done: "read" },
  control: { done: "changed" },
  receive: { done: "received" },
  verify: { done: "verified" },
  send: { done: "sent", maybe: "The endpoint may have received the webhook." },
  check: { done: "checked" },
  replay: { done: "replayed" },
  retry: { done: "retried" },
  skip: { done: "skipped" },
};

/** What an error means for the money, and the next steps: one line each. */
export function renderAdvice(
  { effect, hints, mayHaveHappened }: PaylinkError,
  profile?: string,
): readonly string[] {
  const lines = hints.map((hint) => renderHint(hint, profile));
  if (effect === undefined) return lines;
  const { done, maybe } = EFFECTS[effect];
  const meaning = mayHaveHappened ? maybe : `Nothing was ${done}.`;
  return [[meaning, lines[0]].filter((text) => text !== undefined).join(" "), ...lines.slice(1)];
}
