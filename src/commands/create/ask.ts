/** Asks for what a request lacks: each answer becomes a flag, and is held to the very rules that flags are held to. */
import type { Ask, Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import type { Json } from "../../domain/json.ts";
import { valueAt } from "../../domain/json-paths.ts";
import { renderRequestSummary } from "../../render/link-request.ts";
import { FIELD_OF, nameOf, type BuiltRequest, type ValueFlag } from "../../requests/build.ts";
import type { InForce } from "../../store/in-force.ts";
import type { SettingKey } from "../../store/profile.ts";
import type { CreateFlags } from "./command.ts";

export interface AskParts {
  readonly context: Context;
  readonly ask: Ask;
  readonly flags: CreateFlags;
  readonly base: Json | undefined;
  readonly settings: InForce;
  readonly build: (flags: CreateFlags) => BuiltRequest;
}

/** The flags with every answer. Throws `interrupted` where the user stops, or says no to the summary. */
export async function askForRequest(parts: AskParts): Promise<CreateFlags> {
  const { ask, context, build } = parts;
  let flags = { ...parts.flags, ...(await askKind(parts)) };
  for (const question of REQUIRED)
    if (isOpen(question.flag, parts)) flags = { ...flags, ...(await askField(question, flags, parts)) };
  const chosen = await ask.several(
    "Anything else? (space chooses, enter goes on)",
    GROUPS.filter(({ questions }) => questions.some(({ flag }) => isOpen(flag, parts))).map((group) => ({
      name: group.name,
      value: group,
    })),
  );
  for (const question of chosen.flatMap(({ questions }) => questions))
    if (isOpen(question.flag, parts)) flags = { ...flags, ...(await askField(question, flags, parts)) };
  const { request } = build(flags);
  if (request === null || flags.dryRun === true || flags.curl === true) return flags;
  context.out.note(`\n${renderRequestSummary(request, context.out.notePaint)}\n`);
  if (await ask.confirm("Create this link?")) return flags;
  context.out.note("Nothing was sent.");
  throw new PaylinkError("interrupted", "Nothing was sent.");
}

interface FieldQuestion {
  readonly flag: ValueFlag;
  readonly message: string;
  /** The answer of who only presses Enter, where no setting gives one. */
  readonly initial?: (flags: CreateFlags) => string | undefined;
  /** Whether an empty answer means that the field is not sent. */
  readonly optional?: (flags: CreateFlags) => boolean;
}

const isReusable = (flags: CreateFlags): boolean => flags.reusable === true;
const always = (): boolean => true;

const REQUIRED: readonly FieldQuestion[] = [
  {
    flag: "amount",
    message: "Amount",
    initial: (flags) => (isReusable(flags) || flags.subscription === true ? "0" : undefined),
  },
  { flag: "currency", message: "Currency" },
  { flag: "terminalId", message: "Terminal" },
  { flag: "customerName", message: "Customer's name" },
  { flag: "expires", message: "Expires (a duration such as 7d, or ISO 8601)", optional: isReusable },
];

const optional = (flag: ValueFlag, message: string): FieldQuestion => ({ flag, message, optional: always });

const GROUPS: readonly { readonly name: string; readonly questions: readonly FieldQuestion[] }[] = [
  {
    name: "Invoice and description",
    questions: [optional("invoiceId", "Invoice id"), optional("description", "Description")],
  },
  {
    name: "Customer details",
    questions: [
      optional("email", "E-mail"),
      optional("firstName", "First name"),
      optional("lastName", "Last name"),
      optional("address1", "Address"),
      optional("address2", "Address, second line"),
      optional("city", "City"),
      optional("postcode", "Postcode"),
      optional("country", "Country"),
    ],
  },
  {
    name: "Redirects and callbacks",
    questions: [
      optional("returnUrl", "Return URL"),
      optional("failureReturnUrl", "Return URL after a failure"),
      optional("callbackUrl", "Callback URL"),
      optional("failureCallbackUrl", "Callback URL of a failure"),
    ],
  },
  { name: "Custom data", questions: [optional("customData", "Custom data")] },
];

/** Neither a flag nor the file says it. */
function isOpen(flag: ValueFlag, { flags, base }: AskParts): boolean {
  if (flags[flag] !== undefined) return false;
  return valueAt(base, FIELD_OF[flag]) === undefined;
}

async function askKind({ ask, flags, base }: AskParts): Promise<Partial<CreateFlags>> {
  const { reusable, subscription, mode, minAmount, maxAmount, referenceMode } = flags;
  const decided = [reusable, subscription, mode, minAmount, maxAmount, referenceMode, base];
  if (decided.some((value) => value !== undefined)) return {};
  return ask.choose<Partial<CreateFlags>>("What kind of link?", [
    { name: "One-time", value: {}, description: "paid once, for a fixed amount" },
    { name: "Reusable", value: { reusable: true }, description: "paid any number of times until it expires" },
    { name: "Subscription", value: { subscription: true }, description: "starts a recurring arrangement" },
  ]);
}

async function askField(
  { flag, message, initial, optional: mayBeEmpty }: FieldQuestion,
  flags: CreateFlags,
  { ask, settings, build }: AskParts,
): Promise<Partial<CreateFlags>> {
  const empty = mayBeEmpty?.(flags) ?? false;
  const withAnswer = (text: string): Partial<CreateFlags> => (empty && text === "" ? {} : { [flag]: text });
  const inForce = isSetting(flag) ? settings.find(flag) : undefined;
  // The built-in expiry is a one-time link's alone.
  const known = empty && inForce?.source === "default" ? undefined : inForce?.value;
  const answer = await ask.text({
    message: empty ? `${message} (enter leaves it out)` : message,
    initial: known ?? initial?.(flags),
    check: (text) => newProblem(build(flags), build({ ...flags, ...withAnswer(text) }), nameOf(flag)),
  });
  return withAnswer(answer);
}

const SETTINGS = [
  "currency",
  "terminalId",
  "customerName",
  "expires",
  "returnUrl",
  "failureReturnUrl",
  "callbackUrl",
  "failureCallbackUrl",
] as const satisfies readonly (ValueFlag & SettingKey)[];
type SettingFlag = (typeof SETTINGS)[number];
const isSetting = (flag: ValueFlag): flag is SettingFlag => SETTINGS.some((setting) => setting === flag);

/** What an answer brings about that was not wrong before; what is still missing is for a later question. */
function newProblem(before: BuiltRequest, after: BuiltRequest, own: string): string | undefined {
  const found = after.problems.find(
    (problem) =>
      (problem.at === own || !after.missing.includes(problem)) &&
      !before.problems.some(
        ({ at, message }) => at === problem.at && message === problem.message && at !== own,
      ),
  );
  if (found === undefined) return undefined;
  return found.at === own ? capitalised(found.message) : `${found.at} ${found.message}`;
}

const capitalised = (text: string): string => `It ${text}.`;
