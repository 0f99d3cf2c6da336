/** Advice as text: its commands as a shell reads them, with the profile and the event store that the user named. */
import type { Effect, PaylinkError } from "../domain/errors.ts";
import {
  paylink,
  shellWord,
  typedFlag,
  type CommandLine,
  type CommandWord,
  type Hint,
} from "../domain/hint.ts";
import { OPERATIONS, SANDBOX_ACTIONS } from "../domain/operations.ts";
import { SANDBOX_PROFILE } from "../domain/known-services.ts";
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

/** The commands that read the links of one terminal. */
const WITH_TERMINAL = /^(?:links list|reconcile)\b/;

/** What the user named for this run, without which an advised command would act on another account, store or terminal. */
export interface Named {
  /** By `-p` or PAYLINK_PROFILE; without it, the current one is meant. */
  readonly profile?: string | undefined;
  /** By `--db`. */
  readonly eventStore?: string | undefined;
  /** By `--terminal-id` or PAYLINK_TERMINAL_ID. */
  readonly terminalId?: string | undefined;
  /** The variable or flag that decides a setting for this run, whatever the profile has. */
  readonly places?: Readonly<Record<string, string | undefined>>;
}

/** As it can be pasted into bash, zsh and fish alike; undefined if one of its words cannot. */
export function renderCommand(
  { words }: CommandLine,
  { profile, eventStore, terminalId }: Named = {},
): string | undefined {
  const command = words[0]?.text;
  // `login` does not take this profile. The sandbox stores its secrets anew at each start.
  if (command === "login" && profile === SANDBOX_PROFILE) return "paylink sandbox";
  const needsProfile = WITH_ACCOUNT.has(command) && !words.some(namesProfile);
  const needsTerminal =
    WITH_TERMINAL.test(words.map(({ text }) => text).join(" ")) &&
    !words.some(({ flag }) => flag === "--terminal-id");
  const before = paylink`${{ "-p": needsProfile ? profile : undefined }}`.words;
  const after = paylink`${{
    "--terminal-id": needsTerminal ? terminalId : undefined,
    "--db": WITH_STORE.has(command) ? eventStore : undefined,
  }}`.words;
  const operands = words.filter(({ from, flag }) => from === "value" && flag === undefined);
  // Behind `--` no word is a flag.
  const behind = operands.some(isLikeFlag) ? operands : [];
  const inFront = [...before, ...words.filter((word) => !behind.includes(word)), ...after];
  const texts = ["paylink", ...inFront.map(wordText), ...(behind.length === 0 ? [] : ["--"])];
  const all = [...texts, ...behind.map(wordText)];
  return all.includes(undefined) ? undefined : all.join(" ");
}

const isLikeFlag = ({ text }: CommandWord): boolean => text.startsWith("-");

function wordText({ text, from, flag }: CommandWord): string | undefined {
  if (from === "ours" && flag === undefined) return text;
  if (safeText(text) !== text) return undefined;
  return flag === undefined ? shellWord(text) : typedFlag(flag, text);
}

const namesProfile = ({ from, text, flag = from === "value" ? "" : text }: CommandWord): boolean =>
  /^(?:-p|--profile$|--profile=)/.test(flag);

/** One line, without the effect of an error. */
export const renderHint = (hint: Hint, named?: Named): string =>
  safeText(
    hint
      .map((part) =>
        typeof part === "string"
          ? part
          : (named?.places?.[part.setting ?? ""] ?? renderCommand(part, named) ?? unsafe(part)),
      )
      .join(""),
  );

/** A command that a shell might read in another way is not printed. */
function unsafe({ words }: CommandLine): string {
  const named = words.flatMap((word) => (wordText(word) === undefined ? [`"${word.text}"`] : []));
  return `no command can be pasted, because shells read ${named.join(" and ")} in different ways`;
}

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
