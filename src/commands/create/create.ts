/** `paylink create`: builds the request, sends it once and shows the link. */
import { createApi, type CreatedLink } from "../../api/client.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { parseDuration } from "../../domain/duration.ts";
import { parseJson, stringifyJson, type Json } from "../../domain/json.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link.ts";
import { renderLink, renderWarnings } from "../../render/link.ts";
import { buildRequest, type BuiltRequest } from "../../requests/build.ts";
import { settingsInForce } from "../../store/in-force.ts";
import type { CreateFlags } from "./command.ts";

export async function create(context: Context, flags: CreateFlags): Promise<void> {
  const { out } = context;
  const settings = await settingsInForce(context);
  const base = flags.from === undefined ? undefined : await readBase(flags.from, context);
  const built = buildRequest({ flags, base, settings, now: context.now() });
  const baseUrl = settings.get("baseUrl");
  const token = settings.get("token");
  const request = requestOf(built, baseUrl !== undefined || flags.dryRun === true);
  for (const warning of renderWarnings(built.warnings, out.notePaint)) out.note(warning);
  if (flags.dryRun === true) return out.data(stringifyJson(request, 2));
  if (baseUrl === undefined) throw noProfile();
  if (token === undefined) throw new PaylinkError("no_token", "There is no token to create links with.");
  const api = createApi({ send: context.send, baseUrl, token, timeout: timeoutOf(flags) });
  show(await api.createLink(request), request, flags, context);
}

async function readBase(path: string, { readFile }: Context): Promise<Json> {
  const json = parseJson(new TextDecoder().decode(await readFile(path)));
  if (json.ok) return json.value.value;
  throw new PaylinkError("usage", `${path === "-" ? "stdin" : path} ${json.message}.`);
}

/** Without an account, what is missing is the account; what was given wrongly is named all the same. */
function requestOf({ request, problems, missing }: BuiltRequest, hasAccount: boolean): PaymentLinkRequest {
  if (request !== null) return request;
  const mistakes = hasAccount ? problems : problems.filter((problem) => !missing.includes(problem));
  if (mistakes.length === 0) throw noProfile();
  const count = mistakes.length === 1 ? "One thing" : `${mistakes.length} things`;
  throw new PaylinkError("usage", `${count} to mend, and nothing was sent:`, { problems: mistakes });
}

const noProfile = (): PaylinkError =>
  new PaylinkError("no_profile", "There is no account to create links with. Two ways on:");

function timeoutOf({ timeout }: CreateFlags): number {
  const parsed = parseDuration(timeout);
  if (parsed.ok) return parsed.value.milliseconds;
  throw new PaylinkError("usage", `--timeout ${parsed.message}.`);
}

function show(
  { text, link, breaches }: CreatedLink,
  request: PaymentLinkRequest,
  flags: CreateFlags,
  { out, now }: Context,
): void {
  for (const warning of renderWarnings(breaches, out.notePaint)) out.note(warning);
  if (out.json) return out.data(text);
  if (flags.quiet === true) return out.data(link.url ?? "");
  out.data(renderLink(link, { paint: out.paint, now: now() }));
  if (request.expirationDate === undefined)
    out.note("No expiry was sent: the service gives a reusable link 3 years.");
}
