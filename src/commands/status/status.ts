/** `paylink status`: the account in force, where each part of it comes from, and whether the service accepts it. */
import { noAccount } from "../../api/client-from-settings.ts";
import { tokenExpiry } from "../../api/tokens.ts";
import type { Context, Output } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { formatRelative } from "../../domain/when.ts";
import { safeText } from "../../render/safe-text.ts";
import { isKeyText } from "../../domain/key-source.ts";
import type { InForce, Setting, Source } from "../../store/settings/in-force.ts";
import { shownSetting } from "../../store/settings/profile.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseTimeout } from "../flag-values.ts";

export interface StatusOptions {
  /** Milliseconds. */
  readonly timeout: number;
}

/** Throws `usage`. */
export function statusOptions(flags: { readonly timeout: string }): StatusOptions {
  const reader = createFlagReader();
  const timeout = reader.read("--timeout", flags.timeout, parseTimeout);
  reader.finish("Nothing was checked.");
  return { timeout: timeout.value };
}

/** Prints the account, then throws what prevents it from creating a link. */
export async function status(context: Context, { timeout }: StatusOptions): Promise<number> {
  const { out } = context;
  const settings = await context.settings();
  if (settings.get("baseUrl") === undefined) throw noAccount();
  const service = await askService(context, timeout);
  const token = tokenState(settings, service);
  if (out.json) out.data(JSON.stringify(statusDocument(settings, token, service)));
  else out.data(renderStatus(settings, token, service, out, context.now()));
  if (service.failure !== undefined) throw service.failure;
  return 0;
}

interface Service {
  /** Null if it was not asked, because there is no token. */
  readonly answers: boolean | null;
  readonly acceptsToken: boolean | null;
  readonly milliseconds: number;
  /** What prevents the account from creating a link. */
  readonly failure: PaylinkError | undefined;
}

/** No transaction has this uti: reading it shows, without any effect, whether the token is accepted. */
const NO_UTI = "00000000-0000-0000-0000-000000000000";

async function askService(context: Context, timeout: number): Promise<Service> {
  const asked = context.now().getTime();
  const answered = (
    answers: boolean | null,
    acceptsToken: boolean | null,
    failure?: PaylinkError,
  ): Service => ({
    answers,
    acceptsToken,
    milliseconds: context.now().getTime() - asked,
    failure,
  });
  try {
    const api = await context.api({ timeout });
    await api.readTransaction(NO_UTI);
    return answered(true, true);
  } catch (error) {
    if (!(error instanceof PaylinkError)) throw error;
    const isAnswer = typeof error.details["status"] === "number";
    switch (error.code) {
      case "refused":
        return answered(true, true);
      case "unauthorized":
        return answered(true, false, error);
      case "not_reached":
      case "overloaded":
      case "redirected":
        return answered(isAnswer, null, error);
      case "no_token":
        return answered(null, false, error);
      default:
        throw error;
    }
  }
}

interface TokenState {
  /** Undefined without a token and without credentials. */
  readonly source: Source | undefined;
  readonly isEmpty: boolean;
  readonly fromCredentials: boolean;
  readonly accepted: boolean | null;
  /** ISO 8601, if the token says so. */
  readonly expires: string | null;
}

function tokenState(settings: InForce, { acceptsToken }: Service): TokenState {
  const token = settings.find("token");
  const expires =
    token === undefined ? settings.get("accessTokenExpires") : tokenExpiry(token.value)?.toISOString();
  return {
    source: (token ?? settings.find("clientSecret"))?.source,
    isEmpty: token?.value.trim() === "",
    fromCredentials: token === undefined,
    accepted: acceptsToken,
    expires: expires ?? null,
  };
}

function statusDocument(settings: InForce, token: TokenState, service: Service): Record<string, unknown> {
  return {
    profile: settings.profile ?? null,
    baseUrl: settings.find("baseUrl") ?? null,
    terminalId: settings.find("terminalId") ?? null,
    token: { source: token.source ?? null, valid: token.accepted, expires: token.expires },
    webhookKey: settings.find("webhookKey") ?? null,
    service: { answers: service.answers, ms: service.milliseconds },
  };
}

function renderStatus(
  settings: InForce,
  token: TokenState,
  service: Service,
  { paint }: Output,
  now: Date,
): string {
  const row = (label: string, value: string, source = ""): string =>
    `${paint.bold(label.padEnd(14))}${safeText(value)}${source === "" ? "" : `  ${paint.dim(`(${source})`)}`}`;
  const settingRow = (label: string, found: Setting | undefined, none: string): string =>
    row(label, found === undefined ? none : shownSetting(found.value), found?.source);
  const key = settings.find("webhookKey");
  return [
    row("profile", settings.profile ?? "(none: the environment alone)"),
    settingRow("service", settings.find("baseUrl"), ""),
    settingRow("terminal", settings.find("terminalId"), "none: paylink config set terminalId …"),
    token.source === undefined
      ? row("token", "none: paylink login")
      : row("token", tokenWords(token, now), token.source),
    settingRow(
      "webhook key",
      key && { ...key, value: key.value.map((source) => (isKeyText(source) ? "(its text)" : source)) },
      "none: paylink config set webhookKey <file or URL>",
    ),
    row("service now", serviceWords(service)),
  ].join("\n");
}

function tokenWords({ isEmpty, fromCredentials, accepted, expires }: TokenState, now: Date): string {
  return [
    accepted === null ? "not tried" : accepted ? "accepted" : isEmpty ? "empty" : "refused",
    ...(fromCredentials ? ["from client credentials"] : []),
    ...(expires === null ? [] : [`expires ${formatRelative(new Date(expires), now)}`]),
  ].join(", ");
}

function serviceWords({ answers, milliseconds }: Service): string {
  if (answers === null) return "not asked, without a token";
  return answers ? `answers (${milliseconds} ms)` : "does not answer";
}
