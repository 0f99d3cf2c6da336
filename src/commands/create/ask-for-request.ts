/** Asks for what a request lacks, and lets the user change every field of it before anything is sent. */
import type { Ask, Choice, Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { type Json, memberAt, stringifyJson } from "../../domain/json.ts";
import { renderProblem } from "../../render/error-message.ts";
import { renderRequestSummary } from "../../render/link.ts";
import { safeText } from "../../render/safe-text.ts";
import { clip } from "../../render/width.ts";
import { renderServiceName } from "../../render/account.ts";
import { FIELD_OF, type BuiltRequest, type RequestFlags } from "../../service/request.ts";
import { askField, type AskParts, editField } from "./ask-field.ts";
import { type FieldQuestion, groupsFor, KINDS, type QuestionGroup, REQUIRED } from "./request-questions.ts";

interface DraftOptions extends Omit<AskParts, "ask"> {
  readonly flags: RequestFlags;
  readonly built: BuiltRequest;
  /** Instead of being sent. */
  readonly isPrinted: boolean;
}

/**
 * The request that the user confirmed, without the warnings that the summary showed. Throws `interrupted` if the user
 * stops, or says no to the summary.
 */
export async function askForRequest(context: Context, options: DraftOptions): Promise<BuiltRequest> {
  const { ask, out } = context;
  if (ask === undefined) return options.built;
  const parts: AskParts = { ...options, ask };
  let flags = await askMissing(await askKind(options.flags, parts), parts);
  for (;;) {
    const built = options.build(flags);
    showDraft(built, options, out);
    const next = await ask.choose(...confirmation(built, options));
    if (next === "send") return { ...built, warnings: () => [] };
    if (next === "stop") {
      out.note("Nothing was sent.");
      throw new PaylinkError("interrupted", "Nothing was sent.");
    }
    flags = next === "kind" ? await changeKind(flags, parts) : await changeFields(next, flags, parts);
  }
}

/** The choices below a summary. An invalid request can only be changed. */
function confirmation(
  { request, draft: asBuilt }: BuiltRequest,
  { isPrinted, base }: DraftOptions,
): [message: string, choices: Choice<"send" | "kind" | "stop" | QuestionGroup>[]] {
  const verb = isPrinted ? "print" : "create";
  const choices: Choice<"send" | "kind" | "stop" | QuestionGroup>[] = [
    ...(request === null ? [] : [{ name: `Yes, ${verb} it`, value: "send" as const }]),
    ...(base === undefined ? [{ name: "Change the kind of link", value: "kind" as const }] : []),
    ...groupsFor(asBuilt).map((group) => ({
      name: `Change the ${group.name}`,
      value: group,
      description: group.questions.map(({ label }) => label).join(", "),
    })),
    { name: "No, send nothing", value: "stop" },
  ];
  return [isPrinted ? "Print this request?" : "Create this link?", choices];
}

function showDraft(
  { request, problems, warnings }: BuiltRequest,
  { isPrinted, settings }: DraftOptions,
  out: Context["out"],
): void {
  if (request !== null) {
    const service = isPrinted ? "" : `\n  ${renderServiceName(settings, out.notePaint)}`;
    out.note(`\n${renderRequestSummary(request, out.notePaint)}${service}\n`);
  }
  for (const problem of [...problems, ...warnings()]) out.warn(renderProblem(problem));
}

/** Asks every required question that neither a flag nor the file has answered. */
async function askMissing(flags: RequestFlags, parts: AskParts): Promise<RequestFlags> {
  let answered = flags;
  for (const question of REQUIRED) {
    const { flag } = question;
    const isOpen = answered[flag] === undefined && memberAt(parts.base, FIELD_OF[flag]) === undefined;
    if (isOpen) answered = await askField(question, answered, parts);
  }
  return answered;
}

const chooseKind = (ask: Ask): Promise<RequestFlags> =>
  ask.choose(
    "What kind of link?",
    KINDS.map(({ name, description, flags }) => ({ name, description, value: flags })),
  );

/** Asks only if neither a flag nor the file decides it. */
async function askKind(flags: RequestFlags, { ask, base }: AskParts): Promise<RequestFlags> {
  if (flags.reusable === true || flags.subscription === true || base !== undefined) return flags;
  return { ...flags, ...(await chooseKind(ask)) };
}

/** Another kind may require other fields. */
const changeKind = async (flags: RequestFlags, parts: AskParts): Promise<RequestFlags> =>
  askMissing({ ...flags, ...(await chooseKind(parts.ask)) }, parts);

/** Changes fields of a group, any number of them, until the user goes back. */
async function changeFields(
  { name, questions }: QuestionGroup,
  flags: RequestFlags,
  parts: AskParts,
): Promise<RequestFlags> {
  let changed = flags;
  let next: FieldQuestion | "back" | undefined = questions[0];
  for (;;) {
    const { draft } = parts.build(changed);
    const choices: Choice<FieldQuestion | "back">[] = questions.map((question) => ({
      name: `${question.message}: ${shownValue(memberAt(draft, FIELD_OF[question.flag]))}`,
      value: question,
    }));
    choices.push({ name: "Back", value: "back" });
    const chosen: FieldQuestion | "back" = await parts.ask.choose(`Change the ${name}`, choices, {
      initial: next,
    });
    if (chosen === "back") return changed;
    changed = await editField(chosen, changed, parts);
    next = questions[questions.indexOf(chosen) + 1] ?? "back";
  }
}

/** Characters of a value, so that a choice stays on one line. */
const VALUE_LENGTH = 30;

function shownValue(value: Json | undefined): string {
  const text = typeof value === "string" ? value : value === undefined ? "–" : stringifyJson(value);
  return clip(safeText(text), VALUE_LENGTH);
}
