/** Asks for one field of a request: each answer becomes a flag, and follows the rules of that flag. */
import type { Ask } from "../../context.ts";
import { memberAt, isJsonNumber, type Json } from "../../domain/json.ts";
import {
  type BuiltRequest,
  FIELD_OF,
  nameOf,
  type RequestFlags,
  type ValueFlag,
} from "../../service/request.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { isSettingKey } from "../../settings/setting-table.ts";
import { REQUIRED, type FieldQuestion, type RequiredQuestion } from "./request-questions.ts";

export interface AskParts {
  readonly base: Json | undefined;
  readonly build: (flags: RequestFlags) => BuiltRequest;
  readonly settings: ResolvedSettings;
  readonly ask: Ask;
}

/** Asks with an initial answer, which the user accepts with Enter. */
export async function askField(
  { flag, message, initial, optional }: RequiredQuestion,
  flags: RequestFlags,
  parts: AskParts,
): Promise<RequestFlags> {
  const mayBeEmpty = optional?.(flags) ?? false;
  const resolved = settingOf(flag, parts.settings);
  // The built-in expiry is for one-time links only.
  const known = mayBeEmpty && resolved?.source === "default" ? undefined : resolved?.value;
  const answer = await parts.ask.text({
    message: mayBeEmpty ? `${message}, or Enter to skip` : message,
    initial: known ?? initial?.(flags),
    check: (text) => problemOf(flag, mayBeEmpty && text === "" ? undefined : text, flags, parts),
  });
  return mayBeEmpty && answer === "" ? flags : { ...flags, [flag]: answer };
}

/** Shows the field as it is, to be edited or removed. */
export async function editField(
  question: FieldQuestion,
  flags: RequestFlags,
  parts: AskParts,
): Promise<RequestFlags> {
  const { flag, message } = question;
  if (flags[flag] !== undefined && !isRequired(question) && (await wantsRemoval(question, parts)))
    return { ...flags, [flag]: undefined };
  const given = flags[flag] ?? textOf(memberAt(parts.base, FIELD_OF[flag]));
  const current = given ?? settingOf(flag, parts.settings)?.value;
  const answer = await parts.ask.text({
    message,
    initial: current,
    editable: true,
    check: (text) => problemOf(flag, text === "" ? undefined : text, flags, parts),
  });
  return answer === (current ?? "") ? flags : { ...flags, [flag]: answer };
}

const isRequired = (question: FieldQuestion): boolean => REQUIRED.includes(question);

const wantsRemoval = ({ message }: FieldQuestion, { ask }: AskParts): Promise<boolean> =>
  ask.choose(`${message} has a value`, [
    { name: "Change it", value: false },
    { name: "Remove it", value: true },
  ]);

/** Only values of one field are edited. */
function textOf(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  return isJsonNumber(value) ? value.value : undefined;
}

/** The default of a field has the name of its flag in the settings. */
const settingOf = (flag: ValueFlag, settings: ResolvedSettings) =>
  isSettingKey(flag) ? settings.find(flag) : undefined;

/** A problem that an answer causes; what is still missing is left to later questions. */
function problemOf(
  flag: ValueFlag,
  answer: string | undefined,
  flags: RequestFlags,
  { build }: AskParts,
): string | undefined {
  const own = nameOf(flag);
  const before = build(flags);
  const after = build({ ...flags, [flag]: answer });
  const found = after.problems.find(
    (problem) =>
      (problem.at === own || !after.missing.includes(problem)) &&
      !before.problems.some(
        ({ at, message }) => at === problem.at && message === problem.message && at !== own,
      ),
  );
  if (found === undefined) return undefined;
  return found.at === own ? `It ${found.message}.` : `${found.at} ${found.message}`;
}
