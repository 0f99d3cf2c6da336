/** Checks an account at its service, and the addresses that the service must reach: one result for each part, with remedies. */
import { PaylinkError, hint, paylink, type CommandLine, type Hint } from "../domain/errors.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import type { ConfigKey } from "../settings/setting-table.ts";
import { isExposed, isLoopback, parseWebAddress } from "../domain/addresses.ts";
import type { Api } from "./client.ts";
import { UnusableAnswer } from "./failures.ts";

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
export function failed(check: string, failure: PaylinkError, ...remedies: readonly Hint[]): Check {
  const problems = failure.unnamed.map(({ at, message }) => `${at} ${message}`.trim());
  const detail = [failure.message, ...(problems.length > 0 ? [`${problems.join("; ")}.`] : [])].join(" ");
  return { ...result("failed")(check, detail, ...(remedies.length > 0 ? remedies : failure.hints)), failure };
}

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
const PUBLIC_URL = "public URL";

export const ADDRESS_CHECKS = [CALLBACKS, PUBLIC_URL];

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
  if (publicUrl === undefined) return skipped(PUBLIC_URL, "not set: needed behind a proxy or a tunnel");
  const problem = problemOf(publicUrl, settings);
  return problem === undefined
    ? passed(PUBLIC_URL, publicUrl)
    : warned(PUBLIC_URL, `${publicUrl} ${problem}`, [set("publicUrl", "<url>")]);
}

function problemOf(address: string | undefined, settings: ResolvedSettings): string | undefined {
  const url = parseWebAddress(address ?? "");
  if (url === undefined) return undefined;
  if (isLoopback(url.hostname) && settings.label !== "sandbox")
    return "is an address of this machine, which the service cannot reach";
  return isExposed(url) ? "is not https: others can read and change what is sent there" : undefined;
}

/** An account, stored or not. */
export interface Account {
  readonly settings: ResolvedSettings;
  /** Throws `no_token`. */
  readonly api: () => Promise<Api>;
  readonly now: Date;
}

const ENDPOINT = "token endpoint";
const TOKEN = "token";
const LINKS = "links endpoint";
const TRANSACTION = "transaction address";

export const SERVICE_CHECKS = [ENDPOINT, TOKEN, LINKS, TRANSACTION];

/** The token endpoint, the token, the list of links and the address of transactions, each one question. */
export async function checkService(account: Account): Promise<Check[]> {
  const api = await attempt(account.api());
  if (api instanceof PaylinkError)
    return [...unchecked([ENDPOINT], TOKEN), failed(TOKEN, api), ...unchecked([LINKS, TRANSACTION], TOKEN)];
  const endpoint = await checkTokenEndpoint(api, account.settings);
  if (endpoint.state === "failed") return [endpoint, ...unchecked([TOKEN, LINKS, TRANSACTION], ENDPOINT)];
  const listed = await listLinks(api, account);
  const links = checkLinks(listed, account.settings);
  if (statusOf(listed) === 401) return [endpoint, ...refusedToken(listed)];
  if (listed !== undefined && !isFromApi(listed))
    return [endpoint, ...unchecked([TOKEN], LINKS), links, ...unchecked([TRANSACTION], LINKS)];
  const read = await readTransaction(api, account.settings);
  if (statusOf(read) === 401) return [endpoint, ...refusedToken(read)];
  const token = [listed, read].some(isFromApi) ? passed(TOKEN, "accepted") : skipped(TOKEN, "not checked");
  return [endpoint, token, links, checkTransaction(read, account.settings)];
}

const refusedToken = (answer: Answer): Check[] =>
  answer instanceof PaylinkError
    ? [failed(TOKEN, answer, LOGIN), ...unchecked([LINKS, TRANSACTION], TOKEN)]
    : [];

const LOGIN = hint`Check the token. To store another account: ${paylink("login")}`;

/** What an earlier failure makes useless to ask. */
export const unchecked = (checks: readonly string[], cause: string): Check[] =>
  checks.map((check) => skipped(check, `not checked, because of the ${cause}`));

async function checkTokenEndpoint(api: Api, settings: ResolvedSettings): Promise<Check> {
  const renewed = await attempt(api.renewToken());
  if (renewed instanceof PaylinkError) return failed(ENDPOINT, renewed);
  if (!renewed) return skipped(ENDPOINT, "not needed: the account has a token of its own");
  return passed(ENDPOINT, `${settings.get("tokenUrl") ?? ""} gave an access token`);
}

/** Undefined if the question was not asked. */
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

const TERMINAL = set("terminalId", "<id>");

const NO_TERMINAL = warned(
  LINKS,
  "not checked, because no terminal is set",
  hint`Each ${paylink("create")} needs --terminal-id. To store a default: ${TERMINAL}`,
);

function checkLinks(listed: Answer, settings: ResolvedSettings): Check {
  if (listed === undefined) return NO_TERMINAL;
  const [baseUrl, terminalId] = [settings.get("baseUrl") ?? "", settings.get("terminalId") ?? ""];
  if (listed === "answered") return passed(LINKS, `${baseUrl} lists the links of terminal ${terminalId}`);
  if (!(listed instanceof UnusableAnswer) || listed.code === "redirected") return failed(LINKS, listed);
  const { status, words } = listed.answer;
  if (status === 403)
    return failed(
      LINKS,
      listed,
      hint`The token is valid, but not for this request. Check the terminal: ${TERMINAL}`,
      hint`and the scope of the token: ${set("tokenScope", "<scope>")}`,
    );
  if (words.isPage || status === 404 || status < 300)
    return failed(LINKS, listed, hint`Check the address of the service: ${set("baseUrl", "<url>")}`);
  if (status < 500 && listed.code === "refused")
    return failed(LINKS, listed, hint`Check the terminal: ${TERMINAL}`);
  return failed(LINKS, listed);
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
  if (!(read instanceof UnusableAnswer)) return false;
  const { status, words } = read.answer;
  return status === 204 || (words.isJson && (status < 300 || read.code === "refused"));
}

/** Whether the service's API gave the answer, which checks the token first: a page, a fault or a redirect may be of others. */
function isFromApi(answer: Answer): boolean {
  if (!(answer instanceof UnusableAnswer)) return answer === "answered";
  const { status, words } = answer.answer;
  return [400, 403, 422].includes(status) && !words.isPage;
}

const statusOf = (answer: Answer): number | undefined =>
  answer instanceof UnusableAnswer ? answer.answer.status : undefined;
