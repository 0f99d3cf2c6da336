/** The questions of `create`: asks for what a request lacks, and lets the user change every field before anything is sent. */
import type { Ask, Choice, Context } from "../../context.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { isJsonNumber, type Json, memberAt, memberOf, stringifyJson } from "../../domain/json.ts";
import { signOf } from "../../domain/money.ts";
import { labelOf, questionOf, titleOf } from "../../domain/payment-link-fields.ts";
import { renderServiceName } from "../../render/account.ts";
import { renderProblem } from "../../render/error-message.ts";
import { renderRequestSummary } from "../../render/link.ts";
import { safeText } from "../../render/safe-text.ts";
import { clip } from "../../render/width.ts";
import {
  type BuiltRequest,
  FIELD_OF,
  nameOf,
  type RequestFlags,
  VALUE_FLAGS,
  type ValueFlag,
} from "../../service/request.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { isSettingKey } from "../../settings/setting-table.ts";

interface Draft {
  /** Those that the user gave. */
  readonly flags: RequestFlags;
  /** The JSON of `--from`; undefined without it. */
  readonly base: Json | undefined;
  readonly build: (flags: RequestFlags) => BuiltRequest;
  readonly settings: ResolvedSettings;
  readonly now: Date;
  /** Instead of being sent. */
  readonly isPrinted: boolean;
}

interface Parts extends Draft {
  readonly ask: Ask;
  readonly out: Context["out"];
}

/** What the answers are so far, and whether the user goes back from the last question. */
interface Answered {
  readonly flags: RequestFlags;
  readonly isBack: boolean;
}

interface Step {
  readonly isAsked: (flags: RequestFlags) => boolean;
  readonly ask: (flags: RequestFlags) => Promise<Answered>;
}

/**
 * The request that the user confirmed, without the warnings that the summary showed. Throws `interrupted` if the user
 * stops, or says no to the summary.
 */
export async function askForRequest(
  { ask, out }: Pick<Context, "ask" | "out">,
  draft: Draft,
): Promise<BuiltRequest> {
  // Without the name of its file, each problem names its field.
  const build = (flags: RequestFlags): BuiltRequest => draft.build({ ...flags, from: undefined });
  if (ask === undefined) return draft.build(draft.flags);
  const parts: Parts = { ...draft, build, ask, out };
  const { flags, base } = draft;
  const isKindOpen = flags.reusable !== true && flags.subscription !== true && base === undefined;
  const open = ASKED.filter((flag) => (flags[flag] ?? memberAt(base, FIELD_OF[flag])) === undefined);
  const steps = [
    ...(isKindOpen ? [kindStep(parts)] : []),
    ...open.map((flag) => fieldStep(flag, parts)),
    confirmation(parts),
  ];
  out.note("Enter takes the answer in brackets; Escape goes back. You confirm it at the end.");
  for (let known = flags; ;) {
    const answered = await askInTurn(steps, known);
    if (!answered.isBack) return { ...build(answered.flags), warnings: () => [] };
    known = answered.flags;
  }
}

/** Who goes back from a question answers the one before it again. */
async function askInTurn([step, ...others]: readonly Step[], flags: RequestFlags): Promise<Answered> {
  if (step === undefined) return { flags, isBack: false };
  if (!step.isAsked(flags)) return askInTurn(others, flags);
  for (let known = flags; ;) {
    const answered = await step.ask(known);
    if (answered.isBack) return answered;
    const rest = await askInTurn(others, answered.flags);
    if (!rest.isBack) return rest;
    known = rest.flags;
  }
}

/** What only one kind of link has in its own way. */
const BY_KIND: readonly ValueFlag[] = ["amount", "minAmount", "maxAmount"];
/** Asked before the summary: what is required, and what most merchants want to say. */
const ASKED: readonly ValueFlag[] = [
  ...BY_KIND,
  "currency",
  "terminalId",
  "customerName",
  "expires",
  "invoiceId",
  "description",
];
const PAYMENT: readonly ValueFlag[] = ["amount", "currency", "terminalId", "customerName", "expires"];

const ONE_TIME: RequestFlags = {
  reusable: undefined,
  subscription: undefined,
  mode: undefined,
  minAmount: undefined,
  maxAmount: undefined,
  referenceMode: undefined,
};

/** Choosing a kind removes the fields of the other kinds. */
const KINDS = [
  { name: "One-time", description: "paid once, for a fixed amount", flags: ONE_TIME },
  {
    name: "Reusable",
    description: "paid any number of times until it expires",
    flags: { reusable: true, subscription: undefined },
  },
  {
    name: "Subscription",
    description: "starts a recurring arrangement",
    flags: { ...ONE_TIME, subscription: true, amount: undefined, type: undefined },
  },
] satisfies readonly { name: string; description: string; flags: RequestFlags }[];

/** Whether this kind of link can have the field. The amount and the type of a subscription are fixed. */
function canHave(flag: ValueFlag, flags: RequestFlags, { build }: Parts): boolean {
  if (FIELD_OF[flag].startsWith("linkOptions.")) return isReusable(build(flags));
  return flags.subscription !== true || (flag !== "amount" && flag !== "type");
}

const isReusable = ({ draft }: BuiltRequest): boolean => memberOf(draft, "linkOptions") !== undefined;

/** Whether the customer enters the amount. */
function isOpenAmount(built: BuiltRequest): boolean {
  const amount = memberOf(built.draft, "amount");
  return isReusable(built) && isJsonNumber(amount) && signOf(amount) === 0;
}

const kindStep = ({ ask }: Parts): Step => ({
  isAsked: () => true,
  ask: async (flags) => {
    const choices = KINDS.map((kind) => ({ ...kind, value: kind.flags }));
    const initial = KINDS.find(
      (kind) => kind.flags.reusable === flags.reusable && kind.flags.subscription === flags.subscription,
    );
    const kind = await ask.orBack((asked) =>
      asked.choose<RequestFlags>("What kind of link?", choices, { initial: initial?.flags }),
    );
    return { flags: { ...flags, ...kind }, isBack: kind === undefined };
  },
});

const fieldStep = (flag: ValueFlag, parts: Parts): Step => ({
  isAsked: (flags) => canHave(flag, flags, parts),
  ask: (flags) => askField(flag, flags, parts),
});

/** Asks for one field. The answer becomes a flag, and follows the rules of that flag; without an answer there is no flag. */
async function askField(flag: ValueFlag, flags: RequestFlags, parts: Parts): Promise<Answered> {
  const { ask, build } = parts;
  const own = flags[flag];
  const without = build({ ...flags, [flag]: undefined });
  const isOpen = flag === "amount" && isOpenAmount(without);
  const usual = isOpen ? undefined : usualAnswer(flag, without, parts);
  const isOptional = !without.missing.some(({ at }) => at === nameOf(flag));
  const message = isOpen
    ? `${questionOf("amount")} (leave empty: the customer chooses)`
    : `${questionOf(FIELD_OF[flag])}${isOptional && usual === undefined ? ", or Enter to skip" : ""}`;
  const answer = await ask.orBack((asked) =>
    asked.text({
      message,
      initial: own ?? usual,
      editable: own !== undefined,
      check: (text) =>
        text === "" && usual !== undefined
          ? `It cannot be empty: without another answer it is ${usual}.`
          : problemOf(flag, text === "" ? undefined : text, flags, parts),
    }),
  );
  if (answer === undefined) return { flags, isBack: true };
  return {
    flags: { ...flags, [flag]: answer === "" || answer === usual ? undefined : answer },
    isBack: false,
  };
}

/** What the field has if no answer is given: the text of the setting, or what the file or the kind of link says. */
function usualAnswer(
  flag: ValueFlag,
  { draft }: BuiltRequest,
  { base, settings }: Parts,
): string | undefined {
  const value = memberAt(draft, FIELD_OF[flag]);
  const isSet = value !== undefined && memberAt(base, FIELD_OF[flag]) === undefined;
  const setting = isSet && isSettingKey(flag) ? settings.get(flag) : undefined;
  if (setting !== undefined) return setting;
  return isJsonNumber(value) ? value.value : typeof value === "string" ? value : undefined;
}

/** A problem that an answer causes; what is still missing is left to later questions. */
function problemOf(
  flag: ValueFlag,
  answer: string | undefined,
  flags: RequestFlags,
  { build }: Parts,
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
  return found.at === own ? `It ${found.message}.` : `${inWords(found).at} ${found.message}.`;
}

/** The problem at the field as the questions call it. */
function inWords(problem: Problem): Problem {
  const flag = VALUE_FLAGS.find((name) => nameOf(name) === problem.at);
  return { ...problem, at: flag === undefined ? titleOf(problem.at) : titleOf(FIELD_OF[flag]) };
}

/** Shows the request, until the user sends it, stops or goes back. */
const confirmation = (parts: Parts): Step => ({
  isAsked: () => true,
  ask: async (flags) => {
    const { ask, build, out } = parts;
    for (let current = flags; ;) {
      const built = build(current);
      showSummary(built, parts);
      const next = await ask.orBack((asked) => asked.choose(...whatNext(built, current, parts)));
      if (next === undefined || next === "send") return { flags: current, isBack: next === undefined };
      if (next === "stop") {
        out.note("Nothing was sent.");
        throw new PaylinkError("interrupted", "Nothing was sent.");
      }
      current =
        next === "kind"
          ? // What another kind requires is asked for.
            (await askInTurn([kindStep(parts), ...BY_KIND.map((flag) => fieldStep(flag, parts))], current))
              .flags
          : await changeFields(next, current, parts);
    }
  },
});

function showSummary(
  { request, draft, problems, warnings }: BuiltRequest,
  { isPrinted, settings, now, out }: Parts,
): void {
  if (request !== null) {
    const service = isPrinted ? "" : `\n  ${renderServiceName(settings, out.notePaint)}`;
    out.note(`\n${renderRequestSummary(request, draft, { paint: out.notePaint, now })}${service}\n`);
  }
  for (const problem of [...problems, ...warnings()]) out.warn(renderProblem(inWords(problem)));
}

/** Fields that are changed together. */
interface Group {
  /** Completes "Change the …". */
  readonly name: string;
  readonly flags: readonly ValueFlag[];
}

/** Every field that this kind of link can have: those of an object of the request are a group. */
function groupsOf(flags: RequestFlags, parts: Parts): readonly Group[] {
  const groups = new Map<string, ValueFlag[]>();
  for (const flag of VALUE_FLAGS.filter((one) => canHave(one, flags, parts))) {
    const [object = "", member] = FIELD_OF[flag].split(".");
    const own = PAYMENT.includes(flag) ? "payment" : "order";
    const name = member === undefined ? own : labelOf(object);
    groups.set(name, [...(groups.get(name) ?? []), flag]);
  }
  return [...groups].map(([name, members]) => ({ name, flags: members }));
}

/** The choices below a summary. An invalid request can only be changed. */
function whatNext(
  { request }: BuiltRequest,
  flags: RequestFlags,
  parts: Parts,
): [message: string, choices: Choice<"send" | "kind" | "stop" | Group>[]] {
  const verb = parts.isPrinted ? "print" : "create";
  const choices: Choice<"send" | "kind" | "stop" | Group>[] = [
    ...(request === null ? [] : [{ name: `Yes, ${verb} it`, value: "send" as const }]),
    ...(parts.base === undefined ? [{ name: "Change the kind of link", value: "kind" as const }] : []),
    ...groupsOf(flags, parts).map((group) => ({
      name: `Change the ${group.name}`,
      value: group,
      description: group.flags.map((flag) => titleOf(FIELD_OF[flag])).join(", "),
    })),
    { name: "No, send nothing", value: "stop" },
  ];
  return [parts.isPrinted ? "Print this request?" : "Create this link?", choices];
}

/** Changes fields of a group, any number of them, until the user goes back. */
async function changeFields(group: Group, flags: RequestFlags, parts: Parts): Promise<RequestFlags> {
  let changed = flags;
  let next: ValueFlag | "back" | undefined = group.flags[0];
  for (;;) {
    const built = parts.build(changed);
    const choices: Choice<ValueFlag | "back">[] = [
      ...group.flags.map((flag) => ({
        name: `${titleOf(FIELD_OF[flag])}: ${shownValue(flag, built)}`,
        value: flag,
      })),
      { name: "Back", value: "back" },
    ];
    const initial: ValueFlag | "back" | undefined = next;
    const chosen: ValueFlag | "back" | undefined = await parts.ask.orBack((asked) =>
      asked.choose<ValueFlag | "back">(`Change the ${group.name}`, choices, { initial }),
    );
    if (chosen === undefined || chosen === "back") return changed;
    const answered = await askField(chosen, changed, parts);
    changed = answered.flags;
    next = answered.isBack ? chosen : (group.flags[group.flags.indexOf(chosen) + 1] ?? "back");
  }
}

/** Characters of a value, so that a choice stays on one line. */
const VALUE_LENGTH = 30;

function shownValue(flag: ValueFlag, built: BuiltRequest): string {
  const value = memberAt(built.draft, FIELD_OF[flag]);
  if (value === undefined) return "–";
  if (flag === "amount" && isOpenAmount(built)) return "the customer chooses";
  return clip(safeText(typeof value === "string" ? value : stringifyJson(value)), VALUE_LENGTH);
}
