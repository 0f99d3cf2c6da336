/** The questions of `create`: the kind of link, what is required and missing, what most links have; then the link, to confirm. */
import type { Ask, Context } from "../../context.ts";
import type { Problem } from "../../domain/errors.ts";
import { isJsonNumber, memberAt, memberOf, stringifyJson } from "../../values/json.ts";
import {
  linkFieldAt,
  FIELD_OF_FLAG,
  flagName,
  fieldQuestion,
  fieldTitle,
  VALUE_FLAGS,
  type ValueFlag,
} from "../../domain/payment-link-field-lookup.ts";
import { parseTypedText } from "../../values/typed-text.ts";
import { renderServiceName } from "../../render/account.ts";
import { renderProblem } from "../../render/error-message.ts";
import { renderRequestSummary } from "../../render/link.ts";
import { safeText } from "../../render/safe-text.ts";
import { clip } from "../../render/width.ts";
import type { BuiltRequest, RequestFlags } from "../../service/request.ts";
import { NO_VALUE } from "../../render/layout.ts";
import type { CreateOptions } from "./create.ts";

type Draft = Pick<CreateOptions, "flags" | "base" | "build" | "settings" | "now" | "isPrinted">;

interface QuestionParts extends Draft {
  readonly ask: Ask;
  readonly out: Context["out"];
}

const ONE_TIME_KIND = { name: "One-time", description: "paid once, for a fixed amount", value: {} };
const REUSABLE_KIND = {
  name: "Reusable",
  description: "paid any number of times until it expires; the customer can enter the amount",
  value: { reusable: true },
};
const SUBSCRIPTION_KIND = {
  name: "Subscription",
  description: "starts a recurring arrangement",
  value: { subscription: true },
};

const askedOf = (flag: ValueFlag) => linkFieldAt(FIELD_OF_FLAG[flag]).asked;

/** Asked although no link needs it. Enter skips it. */
const ALWAYS_ASKED = VALUE_FLAGS.filter((flag) => askedOf(flag) === "always");

/** What can be changed before the link is created; the flags set the rest. */
const CHANGEABLE = VALUE_FLAGS.filter((flag) => askedOf(flag) !== undefined);

/**
 * The request that the user confirmed, without the warnings that were shown with it. Throws `interrupted` if the user stops, or
 * cancels it.
 */
export async function askForRequest(
  context: Pick<Context, "ask" | "out">,
  draft: Draft,
): Promise<BuiltRequest | undefined> {
  const { out } = context;
  const ask = context.ask();
  if (ask === undefined) return draft.build(draft.flags);
  // Without the name of its file, each problem names its field.
  const build = (given: RequestFlags): BuiltRequest => draft.build({ ...given, from: undefined });
  const parts: QuestionParts = { ...draft, build, ask, out };
  const { flags, base } = draft;
  const isKindOpen = !flags.reusable && !flags.subscription && base === undefined;
  let answers: RequestFlags = isKindOpen ? { ...flags, ...(await askKind(parts)) } : flags;
  for (;;) {
    const [missing] = VALUE_FLAGS.filter((flag) => isMissing(flag, build(answers)));
    if (missing === undefined) break;
    answers = await askField(missing, answers, parts);
  }
  for (const flag of ALWAYS_ASKED)
    if ((flags[flag] ?? memberAt(base, FIELD_OF_FLAG[flag])) === undefined)
      answers = await askField(flag, answers, parts);
  const built = await confirmed(answers, parts);
  return built && { ...built, warnings: () => [] };
}

/** A reusable link never becomes paid, so nobody can wait for it. */
const askKind = ({ ask, flags }: QuestionParts): Promise<RequestFlags> =>
  ask.choose<RequestFlags>("What kind of link?", [
    ONE_TIME_KIND,
    ...(flags.wait ? [] : [REUSABLE_KIND]),
    SUBSCRIPTION_KIND,
  ]);

const isMissing = (flag: ValueFlag, { missing }: BuiltRequest): boolean =>
  missing.some(({ at }) => at === flagName(flag));

/** The answer becomes a flag, and follows the rules of that flag; without an answer there is no flag. */
async function askField(flag: ValueFlag, answers: RequestFlags, parts: QuestionParts): Promise<RequestFlags> {
  const { ask, build } = parts;
  const built = build(answers);
  const own = shownValue(flag, built);
  const isOptional = own === undefined && !isMissing(flag, built);
  const lines = linkFieldAt(FIELD_OF_FLAG[flag]).multiline === true;
  const typed = await ask.text({
    message: `${fieldQuestion(FIELD_OF_FLAG[flag])}${isOptional ? ", or Enter to skip" : ""}`,
    initial: own,
    editable: own !== undefined,
    check: (text) => {
      if (text === own) return answerProblem(flag, own, answers, parts);
      const answer = parseTypedText(text, { lines });
      if (!answer.ok) return `It ${answer.message}.`;
      return answerProblem(flag, answer.value || undefined, answers, parts);
    },
  });
  return typed === (own ?? "") ? answers : { ...answers, [flag]: typed.trim() || undefined };
}

/** A problem that an answer causes; what is still missing is left to later questions. */
function answerProblem(
  flag: ValueFlag,
  answer: string | undefined,
  answers: RequestFlags,
  { build }: QuestionParts,
): string | undefined {
  const own = flagName(flag);
  const before = build(answers);
  const after = build({ ...answers, [flag]: answer });
  const found = after.problems.find(
    (problem) =>
      (problem.at === own || !after.missing.includes(problem)) &&
      !before.problems.some(
        ({ at, message }) => at === problem.at && message === problem.message && at !== own,
      ),
  );
  if (found === undefined) return undefined;
  return found.at === own ? `It ${found.message}.` : `${inWords(found).at} ${found.message}.`;
}

/** The problem at the field as the questions call it. */
function inWords(problem: Problem): Problem {
  const flag = VALUE_FLAGS.find((name) => flagName(name) === problem.at);
  return { ...problem, at: fieldTitle(flag === undefined ? problem.at : FIELD_OF_FLAG[flag]) };
}

/** Shows the link, until the user creates it, or cancels: undefined. An invalid request can only be changed. */
async function confirmed(answers: RequestFlags, parts: QuestionParts): Promise<BuiltRequest | undefined> {
  const { ask, build, isPrinted } = parts;
  const built = build(answers);
  showSummary(built, parts);
  const [verb, question] = isPrinted ? ["Print", "Print this request?"] : ["Create", "Create this link?"];
  const next = await ask.choose<"send" | "change" | "cancel">(question, [
    ...(built.request === null ? [] : [{ name: verb, value: "send" as const }]),
    { name: "Change an answer", value: "change" },
    { name: "Cancel", value: "cancel" },
  ]);
  if (next === "send") return built;
  return next === "change" ? confirmed(await changeField(answers, parts), parts) : undefined;
}

function showSummary(
  { request, draft, problems, warnings }: BuiltRequest,
  { isPrinted, settings, now, out }: QuestionParts,
): void {
  if (request !== null) {
    const service = isPrinted ? "" : `\n  ${renderServiceName(settings, out.notePaint)}`;
    const style = { paint: out.notePaint, lineWidth: out.lineWidth, now };
    out.note(`\n${renderRequestSummary(request, draft, style)}${service}\n`);
  }
  for (const problem of [...problems, ...warnings()]) out.warn(renderProblem(inWords(problem)));
}

async function changeField(answers: RequestFlags, parts: QuestionParts): Promise<RequestFlags> {
  const built = parts.build(answers);
  const flags = CHANGEABLE.filter((flag) => canHave(flag, answers, built));
  const flag = await parts.ask.choose<ValueFlag>(
    "Which answer?",
    flags.map((one) => ({
      name: `${fieldTitle(FIELD_OF_FLAG[one])}: ${clip(safeText(shownValue(one, built) ?? NO_VALUE), VALUE_LENGTH)}`,
      value: one,
    })),
  );
  return askField(flag, answers, parts);
}

/** Whether this kind of link can have the field. The amount of a subscription is fixed. */
function canHave(flag: ValueFlag, answers: RequestFlags, { draft }: BuiltRequest): boolean {
  if (FIELD_OF_FLAG[flag].startsWith("linkOptions.")) return memberOf(draft, "linkOptions") !== undefined;
  return answers.subscription !== true || flag !== "amount";
}

/** Characters of a value, so that a choice stays on one line. */
const VALUE_LENGTH = 30;

/** As it is sent, whether it was answered or comes from the settings. */
function shownValue(flag: ValueFlag, { draft }: BuiltRequest): string | undefined {
  const value = memberAt(draft, FIELD_OF_FLAG[flag]);
  if (value === undefined) return undefined;
  return isJsonNumber(value) ? value.value : typeof value === "string" ? value : stringifyJson(value);
}
