/** Checks an account at its service, and the addresses that the service must reach: one result for each part, with remedies. */
import { PaylinkError, hint, paylink, type CommandLine, type Hint } from "../domain/errors.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import type { ConfigKey } from "../settings/setting-table.ts";
import { serviceLabel } from "../domain/known-services.ts";
import { isExposed, isLoopback, parseWebAddress } from "../domain/addresses.ts";
import type { Api } from "./client.ts";
import { tokenExpiry } from "./tokens.ts";
import { formatRelative } from "../domain/time.ts";
import { addressHints, connectionHint, UnusableAnswer, VERSION } from "./failures.ts";
import type { ServiceWords } from "./words.ts";

export type CheckState = "ok" | "warning" | "failed" | "skipped";

export interface Check {
  readonly check: string;
  readonly state: CheckState;
  readonly detail: string;
  /** What to do about it. */
  readonly remedies: readonly Hint[];
  /** Only a failed check has one; its code gives the exit code. */
  readonly failure?: PaylinkError;
}

const result =
  (state: CheckState) =>
  (check: string, detail: string, ...remedies: readonly Hint[]): Check => ({
    check,
    state,
    detail,
    remedies,
  });

export const passed = result("ok");
/** Not configured and not needed, or not checked because an earlier check failed. */
export const skipped = result("skipped");
export const warned = result("warning");

/** `remedies` replace the failure's own hints. */
export const failed = (check: string, failure: PaylinkError, ...remedies: readonly Hint[]): Check => ({
  ...result("failed")(check, failure.message, ...(remedies.length > 0 ? remedies : failure.hints)),
  failure,
});

/** The failure as a value. Bugs and interruptions are thrown. */
export async function attempt<T>(action: Promise<T>): Promise<T | PaylinkError> {
  return action.catch((error: unknown) => {
    if (error instanceof PaylinkError && error.exit < 100 && error.code !== "internal") return error;
    throw error;
  });
}

/** How the user sets a value, in a profile that exists. */
const set = (key: ConfigKey, value: string): CommandLine => paylink("config", "set", key, value);

const CALLBACKS = "callback addresses";

export function checkCallbacks(settings: ResolvedSettings): Check {
  const keys = ["callbackUrl", "failureCallbackUrl"] as const;
  const problems = keys.flatMap((key) => {
    const problem = problemOf(settings.get(key), settings);
    return problem === undefined ? [] : [{ key, problem }];
  });
  const [first] = problems;
  if (first !== undefined)
    return warned(
      CALLBACKS,
      problems.map(({ key, problem }) => `${key} ${settings.get(key)} ${problem}`).join("; "),
      hint`Set an https address that the service reaches: ${set(first.key, "<url>")}`,
    );
  const given = keys.flatMap((key) => settings.get(key) ?? []);
  if (settings.get("callbackUrl") !== undefined) return passed(CALLBACKS, [...new Set(given)].join(", "));
  return warned(
    CALLBACKS,
    "no callbackUrl: the service reports payments only for links that name a callback address",
    [set("callbackUrl", "<url>")],
  );
}

export function checkPublicUrl(settings: ResolvedSettings): Check {
  const publicUrl = settings.get("publicUrl");
  if (publicUrl === undefined) return skipped("public URL", "not set: needed behind a proxy or a tunnel");
  const problem = problemOf(publicUrl, settings);
  return problem === undefined
    ? passed("public URL", publicUrl)
    : warned("public URL", `${publicUrl} ${problem}`, [set("publicUrl", "<url>")]);
}

function problemOf(address: string | undefined, settings: ResolvedSettings): string | undefined {
  const url = parseWebAddress(address ?? "");
  if (url === undefined) return undefined;
  const atSandbox = serviceLabel(settings.get("baseUrl") ?? "") === "sandbox";
  if (isLoopback(url.hostname) && !atSandbox)
    return "is an address of this machine, which the service cannot reach";
  return isExposed(url) ? "is not https: others can read and change what is sent there" : undefined;
}

/** An account, stored or not. */
export interface Account {
  readonly settings: ResolvedSettings;
  /** Throws `no_token`, or `usage` for an unusable client certificate. */
  readonly api: () => Promise<Api>;
  readonly now: Date;
}

const ENDPOINT = "token endpoint";
const TOKEN = "token";
const LINKS = "links endpoint";
const TRANSACTION = "transaction address";

export async function checkService(account: Account): Promise<Check[]> {
  const api = await attempt(account.api());
  if (api instanceof PaylinkError)
    return [skipped(ENDPOINT, "not checked"), failed(TOKEN, api), ...unchecked([LINKS, TRANSACTION], TOKEN)];
  const endpoint = await checkTokenEndpoint(api, account.settings);
  if (endpoint.state === "failed") return [endpoint, ...unchecked([TOKEN, LINKS, TRANSACTION], ENDPOINT)];
  const listed = await listLinks(api, account);
  const links = checkLinks(listed, account.settings);
  if (listed instanceof PaylinkError && !(listed instanceof UnusableAnswer))
    return [endpoint, ...unchecked([TOKEN], LINKS), links, ...unchecked([TRANSACTION], LINKS)];
  const read = await readTransaction(api, account.settings);
  const token = checkToken([listed, read], account);
  if (token.state === "failed") return [endpoint, token, ...unchecked([LINKS, TRANSACTION], TOKEN)];
  return [endpoint, token, links, checkTransaction(read, account.settings)];
}

const unchecked = (checks: readonly string[], cause: string): Check[] =>
  checks.map((check) => skipped(check, `not checked, because of the ${cause}`));

async function checkTokenEndpoint(api: Api, settings: ResolvedSettings): Promise<Check> {
  const renewed = await attempt(api.renewToken());
  if (renewed instanceof PaylinkError) return failed(ENDPOINT, renewed);
  if (!renewed) return skipped(ENDPOINT, "not needed: the account has a token of its own");
  return passed(ENDPOINT, `${settings.get("tokenUrl") ?? ""} gave an access token`);
}

type Answer = PaylinkError | "answered" | undefined;

/** Milliseconds: one day of links is enough to see whether the service lists them. */
const PERIOD = 86_400_000;

/** Undefined without a terminal, which the operation needs. */
async function listLinks(api: Api, { settings, now }: Account): Promise<Answer> {
  const terminalId = settings.get("terminalId");
  if (terminalId === undefined) return undefined;
  const from = new Date(now.getTime() - PERIOD);
  const page = await attempt(api.listLinks({ terminalId, from, to: now, page: 1, size: 1 }));
  return page instanceof PaylinkError ? page : "answered";
}

function checkLinks(listed: Answer, settings: ResolvedSettings): Check {
  const terminal = set("terminalId", "<id>");
  if (listed === undefined)
    return warned(
      LINKS,
      "not checked, because no terminal is set",
      hint`Each ${paylink("create")} needs --terminal-id. To store a default: ${terminal}`,
    );
  const baseUrl = settings.get("baseUrl") ?? "";
  if (!(listed instanceof PaylinkError))
    return passed(LINKS, `${baseUrl} lists the links of terminal ${settings.get("terminalId") ?? ""}`);
  if (!(listed instanceof UnusableAnswer)) {
    const step = connectionHint(listed.cause);
    return failed(LINKS, listed, ...(step === undefined ? addressHints(baseUrl) : [step]));
  }
  const { status, words } = listed.answer;
  if (listed.code === "redirected")
    return failed(LINKS, listed, ...redirectHints(listed.details["location"], baseUrl));
  if (status === 403) return failed(LINKS, listed, ...rightsHints(words));
  if (listed.code === "overloaded" || status >= 500) return failed(LINKS, listed, hint`Try again later.`);
  // A built-in service lists links; another one may have no list of them.
  const mustList = settings.get("service") !== undefined || VERSION.test(baseUrl);
  if (words.isPage || (status === 404 && mustList)) return failed(LINKS, listed, ...addressHints(baseUrl));
  if (status === 404 || status === 405 || status < 300)
    return warned(
      LINKS,
      `${listed.message} The service may have no list of links, or the address is wrong.`,
      ...addressHints(baseUrl),
    );
  return failed(LINKS, listed, hint`Check the terminal: ${terminal}`);
}

function redirectHints(location: unknown, baseUrl: string): readonly Hint[] {
  const target = parseWebAddress(String(location));
  return target === undefined || target.origin === parseWebAddress(baseUrl)?.origin
    ? addressHints(baseUrl)
    : [
        hint`paylink does not send a token to a redirect target. If that is the service: ${set("baseUrl", target.origin)}`,
      ];
}

function rightsHints({ code = "", text }: ServiceWords): readonly Hint[] {
  const scope = hint`the scope of the token: ${set("tokenScope", "<scope>")}`;
  if (/scope/i.test(`${code} ${text}`)) return [hint`The token is valid, but not for links. Set ${scope}`];
  return [
    hint`The token is valid, but not for this request.`,
    hint`Check the terminal: ${set("terminalId", "<id>")}`,
    hint`and ${scope}`,
  ];
}

/** No transaction has this uti: reading it has no effect. */
const NO_UTI = "00000000-0000-0000-0000-000000000000";

async function readTransaction(api: Api, settings: ResolvedSettings): Promise<Answer> {
  if (settings.get("transactionUrl") === undefined) return undefined;
  const read = await attempt(api.readTransaction(NO_UTI));
  return read instanceof PaylinkError ? read : "answered";
}

function checkTransaction(read: Answer, settings: ResolvedSettings): Check {
  const address = settings.find("transactionUrl");
  if (address === undefined)
    return skipped(TRANSACTION, "not set", hint`${paylink("transaction")} needs it.`);
  if (!(read instanceof PaylinkError) || saysUnknown(read)) return passed(TRANSACTION, address.value);
  const remedy = hint`${paylink("transaction")} needs it: ${set("transactionUrl", "<path or URL with {uti}>")}`;
  const detail = `${address.value}: ${read.message}`;
  return address.source === "default"
    ? warned(TRANSACTION, detail, remedy)
    : { ...failed(TRANSACTION, read, remedy), detail };
}

/** The answers of an API to an unknown uti: a refusal in its words, or nothing found. */
function saysUnknown(read: PaylinkError): boolean {
  if (!(read instanceof UnusableAnswer)) return read.code === "usage";
  const { status, words } = read.answer;
  return status === 204 || (words.isJson && (status < 300 || read.code === "refused"));
}

function checkToken(answers: readonly Answer[], { settings, now }: Account): Check {
  const token = settings.get("token");
  const expiry = token === undefined ? undefined : tokenExpiry(token);
  const isPast = expiry !== undefined && expiry < now;
  const about =
    expiry === undefined ? "" : `, ${isPast ? "expired" : "expires"} ${formatRelative(expiry, now)}`;
  const refusal = answers.find((answer) => statusOf(answer) === 401);
  if (refusal instanceof PaylinkError) {
    const remedies =
      token === undefined
        ? [
            hint`The token is new, so check how it is sent: ${set("authHeader", "Authorization: Bearer {token}")}`,
            hint`and its scope: ${set("tokenScope", "<scope>")}`,
          ]
        : [hint`Check the token. To store another one: ${paylink("login")}`];
    return { ...failed(TOKEN, refusal, ...remedies), detail: `refused${about}. ${refusal.message}` };
  }
  return answers.some(isFromApi)
    ? passed(TOKEN, `accepted${about}`)
    : skipped(TOKEN, `sent, and not refused${about}; no answer shows that it was accepted`);
}

/** Whether the service's API gave the answer: it checks the token first. */
function isFromApi(answer: Answer): boolean {
  if (!(answer instanceof UnusableAnswer)) return answer === "answered";
  const { status, words } = answer.answer;
  return [400, 403, 422].includes(status) ? !words.isPage : status < 300 && words.isJson;
}

const statusOf = (answer: Answer): number | undefined =>
  answer instanceof UnusableAnswer ? answer.answer.status : undefined;
