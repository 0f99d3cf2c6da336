/** `paylink status`: the account in force, where each part of it comes from, and whether the service takes it. */
import { noAccount } from "../../api/client-from-settings.ts";
import { tokenExpiry } from "../../api/tokens.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { formatRelative } from "../../domain/when.ts";
import { safeText } from "../../render/safe-text.ts";
import { settingsInForce, type InForce, type Setting } from "../../store/in-force.ts";
import { openAccount } from "../account.ts";
import { REQUEST_TIMEOUT, timeoutOf } from "../timeout.ts";
import type { StatusFlags } from "./command.ts";

/** Prints what there is to say, then fails where something stands in the way of creating a link. */
export async function status(context: Context, flags: StatusFlags): Promise<void> {
  const { out } = context;
  const timeout = timeoutOf(flags.timeout) ?? REQUEST_TIMEOUT;
  const settings = await settingsInForce(context);
  if (settings.get("baseUrl") === undefined) throw noAccount();
  const service = await askService(context, settings, timeout);
  const token = tokenState(settings, service, context.now());
  if (out.json) out.data(JSON.stringify(document(settings, token, service)));
  else out.data(lines(settings, token, service, context));
  if (service.failure !== undefined) throw service.failure;
}

interface Service {
  /** Null where it was not asked: there is nothing to ask it with. */
  readonly answers: boolean | null;
  readonly takesToken: boolean | null;
  readonly milliseconds: number;
  /** What stands in the way; undefined where nothing does. */
  readonly failure: PaylinkError | undefined;
}

/** No transaction has this uti: to read it shows, without any effect, whether the token is accepted. */
const NO_UTI = "00000000-0000-0000-0000-000000000000";

async function askService(context: Context, settings: InForce, timeout: number): Promise<Service> {
  const asked = context.now().getTime();
  const answered = (
    answers: boolean | null,
    takesToken: boolean | null,
    failure?: PaylinkError,
  ): Service => ({
    answers,
    takesToken,
    milliseconds: context.now().getTime() - asked,
    failure,
  });
  try {
    const api = await openAccount(context, settings, timeout);
    await api.readTransaction(NO_UTI);
    return answered(true, true);
  } catch (error) {
    if (!(error instanceof PaylinkError)) throw error;
    const status = error.details["status"];
    const known = typeof status === "number";
    if (error.code === "refused") return answered(true, true);
    if (error.code === "unauthorized") return answered(true, false, error);
    if (error.code === "not_reached" || error.code === "overloaded" || error.code === "redirected")
      return answered(known, null, error);
    if (error.code === "no_token") return answered(null, false, error);
    throw error;
  }
}

interface TokenState {
  readonly words: string;
  readonly setting: Setting | undefined;
  readonly valid: boolean | null;
  readonly expires: string | null;
}

function tokenState(settings: InForce, { takesToken }: Service, now: Date): TokenState {
  const setting = settings.find("token");
  const byCredentials = settings.find("clientSecret");
  const expires =
    setting === undefined ? settings.get("accessTokenExpires") : tokenExpiry(setting.value)?.toISOString();
  const state = takesToken === null ? "not checked" : takesToken ? "accepted" : "refused";
  const until = expires === undefined ? "" : `, expires ${formatRelative(new Date(expires), now)}`;
  const kind =
    setting === undefined ? "by client credentials, " : setting.value.trim() === "" ? "empty, " : "";
  const words = setting === undefined && byCredentials === undefined ? "none" : `${kind}${state}${until}`;
  return { words, setting: setting ?? byCredentials, valid: takesToken, expires: expires ?? null };
}

function document(settings: InForce, token: TokenState, service: Service): Record<string, unknown> {
  return {
    profile: settings.profile ?? null,
    baseUrl: settings.find("baseUrl") ?? null,
    terminalId: settings.find("terminalId") ?? null,
    token: { source: token.setting?.source ?? null, valid: token.valid, expires: token.expires },
    webhookKey: settings.find("webhookKey") ?? null,
    service: { answers: service.answers, ms: service.milliseconds },
  };
}

function lines(settings: InForce, token: TokenState, service: Service, { out }: Context): string {
  const { paint } = out;
  const keyText = settings.find("webhookKey");
  const key =
    keyText === undefined || !/^\s*(?:-----|\{)/.test(keyText.value)
      ? keyText
      : { ...keyText, value: "(its text)" };
  const rows: [string, Setting | undefined, string][] = [
    ["service", settings.find("baseUrl"), ""],
    ["terminal", settings.find("terminalId"), "none: paylink config set terminalId …"],
    ["token", token.setting && { ...token.setting, value: token.words }, "none: paylink login"],
    ["webhook key", key, "none: paylink config set webhookKey <file or URL>"],
  ];
  const answer =
    service.answers === null
      ? "not checked: no token"
      : service.answers
        ? `answers (${service.milliseconds} ms)`
        : "does not answer";
  return [
    row("profile", settings.profile ?? "none: only the environment", ""),
    ...rows.map(([label, found, none]) => row(label, found?.value ?? none, found?.source ?? "")),
    row("service now", answer, ""),
  ].join("\n");

  function row(label: string, value: string, source: string): string {
    return `${paint.bold(label.padEnd(14))}${safeText(value)}${source === "" ? "" : `  ${paint.dim(`(${source})`)}`}`;
  }
}
