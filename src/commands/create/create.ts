/** `paylink create`: makes a request of its flags, sends it once and shows the link: the card, its URL or the service's JSON. */
import type { PaymentLinkRequest } from "../../domain/payment-link-shapes.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint, type Hint, paylink } from "../../domain/hint.ts";
import { type Json, memberOf, stringifyJson } from "../../values/json.ts";
import { LINKS_PATH } from "../../domain/known-services.ts";
import { FIELD_SETTINGS, linkFieldAt, flagName } from "../../domain/payment-link-field-lookup.ts";
import { signOf } from "../../domain/money.ts";
import { messageOf } from "../../values/system-reason.ts";
import { renderProblem } from "../../render/error-message.ts";
import { renderHint } from "../../render/hint.ts";
import { renderCurl, renderLink } from "../../render/link.ts";
import { safeJson, safeText } from "../../render/safe-text.ts";
import type { CreatedLink } from "../../service/links.ts";
import { readBaseRequest } from "../../service/base-request.ts";
import { type BuiltRequest, requestBuilder, type RequestFlags } from "../../service/request.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { SETTINGS } from "../../settings/setting-table.ts";
import type { ReadValues, Usage, ValuesOf } from "../command.ts";
import { printLink, warnOfCallbacks, warnOfOtherLinks } from "../link-output.ts";
import { saidNo } from "../shared-flags.ts";
import type { createFlags } from "./command.ts";

type CreateFlags = ValuesOf<typeof createFlags>;

export interface CreateOptions extends CreateFlags {
  readonly flags: CreateFlags;
  readonly settings: ResolvedSettings;
  readonly now: Date;
  /** The JSON of `--from`; undefined without it. */
  readonly base: Json | undefined;
  readonly build: (given: RequestFlags) => BuiltRequest;
  readonly built: BuiltRequest;
  /** Print the request instead of sending it. */
  readonly isPrinted: boolean;
}

/** The request of the flags, or its draft: the user is asked for what it lacks. Throws `no_profile` if only the account is missing. */
export async function createOptions(
  { all: flags }: ReadValues<CreateFlags>,
  usage: Usage,
  context: Context,
): Promise<CreateOptions | undefined> {
  if (flags === undefined) return undefined;
  const settings = await context.settings();
  const base = flags.from === undefined ? undefined : await readBaseRequest(flags.from, context.readFile);
  const isPrinted = flags.dryRun || flags.curl;
  // Durations such as `--expires 7d` count from it.
  const now = context.now();
  const build = (given: RequestFlags): BuiltRequest =>
    requestBuilder({ flags: given, base: base?.value, settings })(now);
  const built = build(flags);
  const needsAccount = !flags.dryRun && settings.get("baseUrl") === undefined;
  const mistakes = built.problems.filter((problem) => !built.missing.includes(problem));
  const mayAsk = context.ask() !== undefined && mistakes.length === 0;
  usage.problems.push(...(base?.problems ?? []));
  for (const warning of base?.warnings ?? []) context.out.warn(renderProblem(warning));
  // An account can supply what is missing, and so can the user's answers.
  usage.problems.push(...(needsAccount || mayAsk ? mistakes : built.problems));
  if (flags.wait && asksReusable(built))
    usage.problems.push({
      at: "--wait",
      message: "cannot wait for a reusable link, which never becomes paid",
    });
  usage.hints.push(...hintsOf(built));
  if (needsAccount && usage.problems.length === 0) throw await noAccountError();
  return {
    ...flags,
    flags,
    settings,
    now,
    base: base?.value,
    build,
    built,
    isPrinted,
  };
}

const asksReusable = ({ draft }: BuiltRequest): boolean => memberOf(draft, "linkOptions") !== undefined;

/** How to store the missing values for every link. */
function hintsOf({ missing }: BuiltRequest): readonly Hint[] {
  const stored = FIELD_SETTINGS.filter(([path]) => {
    const { request, flag = "" } = linkFieldAt(path);
    return request === "required" && missing.some(({ at }) => at === flagName(flag));
  });
  const lines = stored.map(([, key]) => [paylink`config set ${key} ${SETTINGS[key].example}`]);
  return lines.length === 0 ? [] : [hint`To store it for every link:`, ...lines];
}

/** Loaded only if it is needed: a request that is only printed starts faster without the API's client. */
const noAccountError = async (): Promise<Error> => (await import("../../service/open-client.ts")).noAccount();

export async function create(context: Context, options: CreateOptions): Promise<number> {
  const { out } = context;
  const complete = await completeRequest(context, options);
  if (complete === undefined) return saidNo(context);
  const { request, warnings } = complete;
  for (const warning of warnings()) out.warn(renderProblem(warning));
  if (options.dryRun) {
    out.data(safeJson(stringifyJson(request, 2)));
    return 0;
  }
  if (options.curl) return printCurl(context, options, request);
  const api = await context.api();
  const created = await api.createLink(request).catch((error: unknown) => {
    // What was sent is waited for, so an interruption came before.
    if (!(error instanceof PaylinkError) || !error.isInterruption) throw error;
    throw error.with({ effect: "create" });
  });
  await showCreated(created, options, context);
  // An address that is not https was said before it was sent. With --wait, the user learns of the payment without a callback.
  const isSaid = warnings().some(
    ({ at }) => at === flagName("callbackUrl") || at === flagName("failureCallbackUrl"),
  );
  if (!options.wait && !isSaid) await warnOfCallbacks(request, options.settings, out);
  if (!options.wait) return 0;
  const { waitForPayment } = await import("./wait.ts");
  return waitForPayment(context, { ...options, created });
}

type CompleteRequest = BuiltRequest & { readonly request: PaymentLinkRequest };

/** Undefined if the user was asked, and did not want the link. */
async function completeRequest(
  context: Context,
  options: CreateOptions,
): Promise<CompleteRequest | undefined> {
  const { built } = options;
  if (isComplete(built)) return built;
  const { askForRequest } = await import("./questions.ts");
  const answered = await askForRequest(context, options);
  if (answered === undefined || isComplete(answered)) return answered;
  throw new PaylinkError("usage", "Nothing was sent.", { problems: answered.problems });
}

const isComplete = (built: BuiltRequest): built is CompleteRequest => built.request !== null;

async function printCurl(
  { out }: Context,
  { settings }: CreateOptions,
  request: PaymentLinkRequest,
): Promise<number> {
  const { serviceUrl } = await import("../../service/client.ts");
  const curl = renderCurl(serviceUrl(settings.get("baseUrl") ?? "", LINKS_PATH), stringifyJson(request));
  out.result({ curl }, curl);
  return 0;
}

/** An amount that the customer may enter, where the link leaves it open. */
function amountToPay({ amount, linkOptions }: CreatedLink["link"]): string | undefined {
  if (linkOptions === undefined || amount === undefined || signOf(amount) !== 0) return undefined;
  return String(linkOptions.minAmount ?? linkOptions.maxAmount ?? 25);
}

/** What can be done with the link; only the sandbox's can be paid from here. */
function linkNextSteps(link: CreatedLink["link"], { settings, wait }: CreateOptions): readonly Hint[] {
  const { id, url, linkOptions } = link;
  const paying = paylink`pay ${url} ${{ "--amount": amountToPay(link) }}`;
  const showing = paylink`links show ${id ?? url}`;
  return [
    ...(settings.label === "sandbox" ? [hint`To pay it as the customer: ${paying}`] : []),
    ...(wait
      ? []
      : [
          linkOptions === undefined
            ? hint`To check whether it was paid: ${showing}`
            : hint`To see it: ${showing}`,
        ]),
  ];
}

async function showCreated(created: CreatedLink, options: CreateOptions, context: Context): Promise<void> {
  const { out } = context;
  const { link } = created;
  const { now, settings, quiet } = options;
  printLink(created, quiet, context, () =>
    renderLink(link, { paint: out.paint, lineWidth: out.lineWidth, now, service: settings }),
  );
  if (created.asksForOther) warnOfOtherLinks([link.id ?? link.url], context);
  const card = !out.json && !quiet;
  if (card) for (const next of linkNextSteps(link, options)) out.note(renderHint(next, context.named));
  if (options.qr) {
    const { renderQr } = await import("../../render/qr.ts");
    if (card) out.data(renderQr(link.url, out.paint));
    else out.note(renderQr(link.url, out.notePaint));
  }
  // The link exists already, so a failure from here on is only a warning.
  if (!options.open) return;
  try {
    await context.openBrowser(link.url);
    out.note("Opened in the browser.");
  } catch (error) {
    out.warn(`The link was created, but could not be opened: ${safeText(messageOf(error))}.`);
  }
}
