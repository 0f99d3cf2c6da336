/** `paylink create`: builds the request, asks for what is missing, sends it once and shows the link. */
import type { CreatedLink } from "../../api/client.ts";
import type { Context } from "../../context.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link.ts";
import { renderCurl } from "../../render/link-request.ts";
import { renderWarnings } from "../../render/link-card.ts";
import { readBaseRequest } from "../../requests/base-request.ts";
import { requestBuilder, type BuiltRequest } from "../../requests/build.ts";
import { settingsInForce, type InForce } from "../../store/in-force.ts";
import { readTimeout, REQUEST_TIMEOUT } from "../timeout.ts";
import type { AskParts } from "./ask.ts";
import type { CreateFlags } from "./command.ts";

export async function create(context: Context, flags: CreateFlags): Promise<void> {
  const { out } = context;
  const read = readTimeout(flags.timeout);
  const besides = read.ok ? [] : [{ at: "--timeout", message: read.message }];
  const timeout = read.ok ? read.value : undefined;
  const settings = await settingsInForce(context);
  const request = await requestFrom(context, flags, settings, besides);
  if (flags.dryRun === true) return out.data(stringifyJson(request, 2));
  const baseUrl = settings.get("baseUrl");
  if (baseUrl === undefined) throw await noAccount();
  if (flags.curl === true) return printCurl(context, baseUrl, request);
  const { openAccount } = await import("../account.ts");
  const api = await openAccount(context, settings, timeout ?? REQUEST_TIMEOUT);
  const { showLink } = await import("./answer.ts");
  const send = async (link: PaymentLinkRequest): Promise<CreatedLink> => {
    const created = await api.createLink(link);
    await showLink(created, link, flags, context);
    return created;
  };
  if (flags.wait !== true) return void (await send(request));
  const chosen = hasChosenCallback(request, flags, settings);
  const { createAndWait } = await import("./wait.ts");
  await createAndWait({ context, settings, request, chosen, quiet: flags.quiet === true, timeout, send });
}

/** Whether a callback stands in the request because the user gave it this time, and not because a profile has it. */
function hasChosenCallback(
  { paymentSettings = {} }: PaymentLinkRequest,
  flags: CreateFlags,
  settings: InForce,
): boolean {
  return (["callbackUrl", "failureCallbackUrl"] as const).some(
    (name) => flags[name] !== undefined || paymentSettings[name] !== settings.get(name),
  );
}

const noAccount = async (): Promise<PaylinkError> =>
  (await import("../../api/client-from-settings.ts")).noAccount();

async function printCurl({ out }: Context, baseUrl: string, request: PaymentLinkRequest): Promise<void> {
  const { CREATE_PATH, serviceUrl } = await import("../../api/client.ts");
  const curl = renderCurl(serviceUrl(baseUrl, CREATE_PATH), stringifyJson(request));
  out.data(out.json ? JSON.stringify({ curl }) : curl);
}

/** Throws one `usage` failure with everything that is wrong, of the request and `besides`, or `no_profile`. */
async function requestFrom(
  context: Context,
  flags: CreateFlags,
  settings: InForce,
  besides: readonly Problem[],
): Promise<PaymentLinkRequest> {
  const { out, ask, now } = context;
  const base = flags.from === undefined ? undefined : await readBaseRequest(flags.from, context.readFile);
  const build = (given: CreateFlags): BuiltRequest =>
    requestBuilder({ flags: given, base: base?.value, settings })(now());
  const built = build(flags);
  const outside = [...besides, ...(base?.problems ?? [])];
  const mistakes = [...outside, ...built.problems.filter((problem) => !built.missing.includes(problem))];
  const hasAccount = settings.get("baseUrl") !== undefined;
  // Without an account what is missing is the account; what was given wrongly is named all the same.
  const sendsNothing = flags.dryRun === true;
  if (built.missing.length > 0 && mistakes.length === 0 && !hasAccount && !sendsNothing)
    throw await noAccount();
  const asks = ask !== undefined && built.missing.length > 0 && mistakes.length === 0;
  const final = asks
    ? build(await answered({ context, ask, flags, base: base?.value, settings, build }))
    : built;
  const problems = hasAccount || sendsNothing || asks ? [...outside, ...final.problems] : mistakes;
  if (final.request === null || problems.length > 0)
    throw new PaylinkError("usage", "Nothing was sent.", { problems });
  for (const warning of renderWarnings(final.warnings, out.notePaint)) out.note(warning);
  return final.request;
}

const answered = async (parts: AskParts): Promise<CreateFlags> =>
  (await import("./ask.ts")).askForRequest(parts);
