/** Advice as text: its commands as a shell reads them, with the profile and the event store that the user named. */
import type { Effect, PaylinkError } from "../domain/errors.ts";
import { shellWord, type CommandLine, type Hint } from "../domain/hint.ts";
import { OPERATIONS, SANDBOX_ACTIONS } from "../domain/operations.ts";
import { SANDBOX_PROFILE } from "../domain/own-addresses.ts";
import { safeText } from "./safe-text.ts";

/** The commands that use an account. */
const WITH_ACCOUNT: ReadonlySet<string | undefined> = new Set([
  "bulk",
  "config",
  "create",
  "events",
  "inspect",
  "links",
  "listen",
  "login",
  "reconcile",
  "status",
  "transaction",
  "verify",
]);

/** The commands that read the event store. */
const WITH_STORE: ReadonlySet<string | undefined> = new Set([
  "events",
  "inspect",
  "listen",
  "reconcile",
  "verify",
]);

/** What the user named for this run, without which an advised command would act on another account or another store. */
export interface Named {
  /** By `-p` or PAYLINK_PROFILE; without it, the current one is meant. */
  readonly profile?: string | undefined;
  /** By `--db`. */
  readonly eventStore?: string | undefined;
}

export function renderCommand({ words }: CommandLine, { profile, eventStore }: Named = {}): string {
  const [command] = words;
  // `login` does not take this profile. The sandbox stores its secrets anew at each start.
  if (command === "login" && profile === SANDBOX_PROFILE) return "paylink sandbox";
  const own =
    profile !== undefined && WITH_ACCOUNT.has(command) && !words.some(namesProfile) ? ["-p", profile] : [];
  const store = eventStore !== undefined && WITH_STORE.has(command) ? ["--db", eventStore] : [];
  const typed = words.map((word) => (PLACEHOLDER.test(word) ? word : printableWord(word)));
  return ["paylink", ...own.map(printableWord), ...typed, ...store.map(printableWord)].join(" ");
}

/** A word that can be printed as it is, and that a shell reads back: `$'…'` has escapes for what a terminal must not be given. */
const printableWord = (word: string): string =>
  safeText(word) === word ? shellWord(word) : `$'${Array.from(word, printableCharacter).join("")}'`;

function printableCharacter(character: string): string {
  if (character === "'" || character === "\\") return `\\${character}`;
  if (safeText(character) === character) return character;
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
}

const namesProfile = (word: string): boolean => /^(?:-p|--profile$|--profile=)/.test(word);

/** One line, without the effect of an error. */
export const renderHint = (hint: Hint, named?: Named): string =>
  safeText(hint.map((part) => (typeof part === "string" ? part : renderCommand(part, named))).join(""));

/** Stands for a value that the user fills in. */
const PLACEHOLDER = /^<[^<>]+>$/;

/** What did not happen, and what may have happened. */
const MEANINGS: Readonly<Record<Effect, { readonly failed: string; readonly unknown?: string }>> = {
  ...OPERATIONS,
  ...SANDBOX_ACTIONS,
  receive: { failed: "Nothing was received." },
  verify: { failed: "Nothing was verified." },
  send: { failed: "Nothing was sent.", unknown: "The endpoint may have received the webhook." },
  check: { failed: "Nothing was checked." },
  replay: { failed: "Nothing was replayed." },
  retry: { failed: "Nothing was retried." },
  skip: { failed: "Nothing was skipped." },
};

/** What an error means for the money, and the next steps: one line each. */
export function renderAdvice(
  { effect, hints, mayHaveHappened }: PaylinkError,
  named?: Named,
): readonly string[] {
  const lines = hints.map((hint) => renderHint(hint, named));
  if (effect === undefined) return lines;
  const { failed, unknown } = MEANINGS[effect];
  const meaning = mayHaveHappened ? unknown : failed;
  return [[meaning, lines[0]].filter((text) => text !== undefined).join(" "), ...lines.slice(1)];
}
