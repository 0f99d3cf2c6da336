/** Asks for what a request lacks: each answer becomes a flag, and follows the rules of that flag. */
import type { Ask, Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { valueAt } from "../../domain/json-paths.ts";
import { renderRequestSummary } from "../../render/link-request.ts";
import { renderServiceName } from "../../render/service-name.ts";
import type { BuiltRequest } from "../../requests/build.ts";
import { FIELD_OF, nameOf, type RequestFlags, type ValueFlag } from "../../requests/flag-fields.ts";
import type { InForce } from "../../store/settings/in-force.ts";
import type { SettingKey } from "../../store/settings/setting-table.ts";
import type { CreateOptions, RequestDraft } from "./options.ts";

interface AskParts extends RequestDraft {
  readonly ask: Ask;
  readonly settings: InForce;
}

/** The request with every answer. Throws `interrupted` if the user stops, or says no to the summary. */
export async function askForRequest(
  { ask, out }: Context,
  { draft, settings, print }: CreateOptions,
): Promise<BuiltRequest> {
  if (ask === undefined) return draft.built;
  const parts: AskParts = { ...draft, ask, settings };
  const flags = await askForFlags(parts);
  const built = draft.build(flags);
  if (built.request === null || print !== undefined) return built;
  const summary = renderRequestSummary(built.request, out.notePaint);
  out.note(`\n${summary}\n  ${renderServiceName(settings, out.notePaint)}\n`);
  if (await ask.confirm("Create this link?")) return built;
  out.note("Nothing was sent.");
  throw new PaylinkError("interrupted", "Nothing was sent.");
}

async function askForFlags(parts: AskParts): Promise<RequestFlags> {
  const { ask } = parts;
  let flags = { ...parts.flags, ...(await askKind(parts)) };
  const askOpen = async (questions: readonly FieldQuestion[]): Promise<void> => {
    for (const question of questions)
      if (isOpen(question.flag, parts)) flags = { ...flags, ...(await askField(question, flags, parts)) };
  };
  await askOpen(REQUIRED);
  const open = GROUPS.filter(({ questions }) => questions.some(({ flag }) => isOpen(flag, parts)));
  const chosen = await ask.several(
    "Anything else? (space selects, enter continues)",
    open.map((group) => ({ name: group.name, value: group })),
  );
  await askOpen(chosen.flatMap(({ questions }) => questions));
  return flags;
}

interface FieldQuestion {
  readonly flag: ValueFlag;
  readonly message: string;
  /** The answer if the user only presses Enter and no setting gives one. */
  readonly initial?: (flags: RequestFlags) => string | undefined;
  /** Whether an empty answer means that the field is not sent. */
  readonly optional?: (flags: RequestFlags) => boolean;
}

const isReusable = (flags: RequestFlags): boolean => flags.reusable === true;
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

/** Neither a flag nor the file gives it. */
function isOpen(flag: ValueFlag, { flags, base }: AskParts): boolean {
  if (flags[flag] !== undefined) return false;
  return valueAt(base, FIELD_OF[flag]) === undefined;
}

async function askKind({ ask, flags, base }: AskParts): Promise<Partial<RequestFlags>> {
  const { reusable, subscription, mode, minAmount, maxAmount, referenceMode } = flags;
  const decided = [reusable, subscription, mode, minAmount, maxAmount, referenceMode, base];
  if (decided.some((value) => value !== undefined)) return {};
  return ask.choose<Partial<RequestFlags>>("What kind of link?", [
    { name: "One-time", value: {}, description: "paid once, for a fixed amount" },
    { name: "Reusable", value: { reusable: true }, description: "paid any number of times until it expires" },
    { name: "Subscription", value: { subscription: true }, description: "starts a recurring arrangement" },
  ]);
}

async function askField(
  { flag, message, initial, optional: mayBeEmpty }: FieldQuestion,
  flags: RequestFlags,
  { ask, settings, build }: AskParts,
): Promise<Partial<RequestFlags>> {
  const empty = mayBeEmpty?.(flags) ?? false;
  const withAnswer = (text: string): Partial<RequestFlags> => (empty && text === "" ? {} : { [flag]: text });
  const inForce = isSetting(flag) ? settings.find(flag) : undefined;
  // The built-in expiry is for one-time links only.
  const known = empty && inForce?.source === "default" ? undefined : inForce?.value;
  const answer = await ask.text({
    message: empty ? `${message} (enter skips it)` : message,
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

/** A problem that the answer causes; what is still missing is left to later questions. */
function newProblem(before: BuiltRequest, after: BuiltRequest, own: string): string | undefined {
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
