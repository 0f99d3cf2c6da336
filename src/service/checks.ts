/** Checks an account at its service, and the addresses that the service must reach: one result for each part, with remedies. */
import { UNITS } from "../values/time.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink, type Hint } from "../domain/hint.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import { isExposed, isLoopback, parseWebAddress } from "../values/addresses.ts";
import type { Api } from "./client.ts";
import { UnusableAnswer } from "./failures.ts";

export type CheckState = "ok" | "warning" | "failed" | "skipped";

export interface AccountCheck {
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
  (check: string, detail: string, ...remedies: readonly Hint[]): AccountCheck => ({
    check,
    state,
    detail,
    remedies,
  });

export const passedCheck = result("ok");
/** Not configured and not needed, or not checked because an earlier check failed. */
export const skippedCheck = result("skipped");
export const warnedCheck = result("warning");

/** `remedies` replace the failure's own hints. */
export function failedCheck(
  check: string,
  failure: PaylinkError,
  ...remedies: readonly Hint[]
): AccountCheck {
  const problems = failure.unnamed.map(({ at, message }) => `${at} ${message}`.trim());
  const detail = [failure.message, ...(problems.length > 0 ? [`${problems.join("; ")}.`] : [])].join(" ");
  return { ...result("failed")(check, detail, ...(remedies.length > 0 ? remedies : failure.hints)), failure };
}

/** The failure as a value. Bugs and interruptions are thrown. */
export async function orFailure<T>(action: Promise<T>): Promise<T | PaylinkError> {
  return action.catch((error: unknown) => {
    if (error instanceof PaylinkError && !error.isInterruption && error.code !== "internal") return error;
    throw error;
  });
}

/** How the user sets a value, in a profile that exists. */
const CALLBACKS = "callback addresses";
const PUBLIC_URL = "public URL";

export const ADDRESS_CHECKS = [CALLBACKS, PUBLIC_URL];

/** The addresses that the service reports payments to. */
interface Callbacks {
  readonly callbackUrl?: string | undefined;
  readonly failureCallbackUrl?: string | undefined;
}

const CALLBACK_KEYS = ["callbackUrl", "failureCallbackUrl"] as const;

/** What is wrong with the addresses of links at this account; undefined if nothing is. The key is the setting to change. */
function callbackProblem(
  callbacks: Callbacks,
  settings: ResolvedSettings,
): { readonly key: (typeof CALLBACK_KEYS)[number]; readonly text: string } | undefined {
  const { callbackUrl, failureCallbackUrl } = callbacks;
  // `create` sends failed payments to the same address, which is named once.
  const keys = callbackUrl === failureCallbackUrl ? (["callbackUrl"] as const) : CALLBACK_KEYS;
  const problems = keys.flatMap((key) => {
    const problem = addressProblem(callbacks[key], settings);
    return problem === undefined ? [] : [{ key, text: `${key} ${callbacks[key]} ${problem}` }];
  });
  const [first] = problems;
  if (first !== undefined) return { key: first.key, text: problems.map(({ text }) => text).join("; ") };
  if (callbackUrl !== undefined) return undefined;
  return {
    key: "callbackUrl",
    text: "no callbackUrl: the service sends no webhooks for payments of links without one",
  };
}

/** What `create`, `bulk` and `login` say in one line of links with these addresses; undefined if they need no word. */
export function callbackWarning(callbacks: Callbacks, settings: ResolvedSettings): Hint | undefined {
  const problem = callbackProblem(callbacks, settings);
  if (problem === undefined) return undefined;
  const flag = problem.key === "callbackUrl" ? "--callback-url" : "--failure-callback-url";
  return hint`${problem.text}. Name one with ${flag}, or for every link: ${paylink`config set ${problem.key} <url> ${{ "-p": settings.profile }}`}`;
}

export function checkCallbacks(settings: ResolvedSettings): AccountCheck {
  const [callbackUrl, failureCallbackUrl] = CALLBACK_KEYS.map((key) => settings.get(key));
  const problem = callbackProblem({ callbackUrl, failureCallbackUrl }, settings);
  if (problem === undefined)
    return passedCheck(CALLBACKS, [...new Set([callbackUrl, failureCallbackUrl])].filter(Boolean).join(", "));
  return warnedCheck(CALLBACKS, problem.text, [paylink`config set ${problem.key} <url>`]);
}

export function checkPublicUrl(settings: ResolvedSettings): AccountCheck {
  const publicUrl = settings.get("publicUrl");
  if (publicUrl === undefined) return skippedCheck(PUBLIC_URL, "not set: needed behind a proxy or a tunnel");
  const problem = addressProblem(publicUrl, settings);
  return problem === undefined
    ? passedCheck(PUBLIC_URL, publicUrl)
    : warnedCheck(PUBLIC_URL, `${publicUrl} ${problem}`, [paylink`config set publicUrl <url>`]);
}

function addressProblem(address: string | undefined, settings: ResolvedSettings): string | undefined {
  const url = parseWebAddress(address ?? "");
  if (url === undefined) return undefined;
  // A service on this machine reaches it.
  if (isLoopback(url.hostname) && !isLoopback(parseWebAddress(settings.get("baseUrl") ?? "")?.hostname ?? ""))
    return "is an address of this machine, which the service cannot reach";
  return isExposed(url) ? "is not https: others can read and change what the service sends there" : undefined;
}

/** An account, stored or not. */
export interface ServiceAccount {
  readonly settings: ResolvedSettings;
  /** Throws `no_token`. */
  readonly api: () => Promise<Api>;
  readonly now: Date;
}

const TOKEN_ENDPOINT = "token endpoint";
const TOKEN_CHECK = "token";
const LINKS_ENDPOINT = "links endpoint";
const TRANSACTION = "transaction address";

export const SERVICE_CHECKS = [TOKEN_ENDPOINT, TOKEN_CHECK, LINKS_ENDPOINT, TRANSACTION];

/** The token endpoint, the token, the list of links and the address of transactions, each one question. */
export async function checkService(account: ServiceAccount): Promise<AccountCheck[]> {
  const { settings } = account;
  const api = await orFailure(account.api());
  if (api instanceof PaylinkError)
    return [
      ...uncheckedAfter([TOKEN_ENDPOINT], TOKEN_CHECK),
      failedCheck(TOKEN_CHECK, api),
      ...uncheckedAfter([LINKS_ENDPOINT, TRANSACTION], TOKEN_CHECK),
    ];
  const endpoint = await checkTokenEndpoint(api, settings);
  if (endpoint.state === "failed")
    return [endpoint, ...uncheckedAfter([TOKEN_CHECK, LINKS_ENDPOINT, TRANSACTION], TOKEN_ENDPOINT)];
  const links = await checkLinks(api, account);
  const transaction =
    links.state === "failed"
      ? skippedCheck(TRANSACTION, because(LINKS_ENDPOINT))
      : await checkTransaction(api, settings);
  const { failure } = [links, transaction].find(failedForToken) ?? {};
  if (failure !== undefined)
    return [
      endpoint,
      failedCheck(TOKEN_CHECK, failure),
      ...uncheckedAfter([LINKS_ENDPOINT, TRANSACTION], TOKEN_CHECK),
    ];
  const isAccepted = links.state === "ok" || transaction.state === "ok";
  const token = isAccepted
    ? passedCheck(TOKEN_CHECK, "accepted")
    : skippedCheck(TOKEN_CHECK, because(LINKS_ENDPOINT));
  return [endpoint, token, links, transaction];
}

const failedForToken = ({ failure }: AccountCheck): boolean =>
  failure?.code === "unauthorized" &&
  failure.details["status"] !== 403 &&
  !(failure instanceof UnusableAnswer && failure.isOfAnother);

const because = (cause: string): string => `not checked, because of the ${cause}`;

/** What an earlier failure makes useless to ask. */
export const uncheckedAfter = (checks: readonly string[], cause: string): AccountCheck[] =>
  checks.map((check) => skippedCheck(check, because(cause)));

async function checkTokenEndpoint(api: Api, settings: ResolvedSettings): Promise<AccountCheck> {
  const renewed = await orFailure(api.renewToken());
  if (renewed instanceof PaylinkError) return failedCheck(TOKEN_ENDPOINT, renewed);
  if (!renewed) return skippedCheck(TOKEN_ENDPOINT, "not needed: the account uses a fixed access token");
  return passedCheck(TOKEN_ENDPOINT, `${settings.get("tokenUrl") ?? ""} gave an access token`);
}

/** Milliseconds: one day of links is enough to see whether the service lists them. */
const LISTED_PERIOD = UNITS.d;

async function checkLinks(api: Api, { settings, now }: ServiceAccount): Promise<AccountCheck> {
  const terminalId = settings.get("terminalId");
  if (terminalId === undefined)
    return warnedCheck(
      LINKS_ENDPOINT,
      "not checked, because no terminal is set",
      hint`Each ${paylink`create`} needs --terminal-id. To store a default: ${paylink`config set terminalId <id>`}`,
    );
  const from = new Date(now.getTime() - LISTED_PERIOD);
  const page = await orFailure(api.listLinks({ terminalId, from, to: now, page: 1, size: 1 }));
  return page instanceof PaylinkError
    ? failedCheck(LINKS_ENDPOINT, page)
    : passedCheck(
        LINKS_ENDPOINT,
        `${settings.get("baseUrl") ?? ""} lists the links of terminal ${terminalId}`,
      );
}

/** No transaction has this uti: reading it has no effect. */
const NO_UTI = "00000000-0000-0000-0000-000000000000";

async function checkTransaction(api: Api, settings: ResolvedSettings): Promise<AccountCheck> {
  const address = settings.find("transactionUrl");
  if (address === undefined)
    return skippedCheck(TRANSACTION, "not set", hint`${paylink`transaction`} needs it.`);
  const read = await orFailure(api.readTransaction(NO_UTI));
  // An API knows no such uti, and says so in its own words or with an empty answer.
  const isUnknown = read instanceof UnusableAnswer && (read.isJson || read.details["status"] === 204);
  if (!(read instanceof PaylinkError) || isUnknown) return passedCheck(TRANSACTION, address.value);
  const remedy = hint`${paylink`transaction`} needs it: ${paylink`config set transactionUrl <path or URL with {uti}>`}`;
  const found = { ...failedCheck(TRANSACTION, read, remedy), detail: `${address.value}: ${read.message}` };
  return address.source === "default" && !failedForToken(found)
    ? warnedCheck(TRANSACTION, found.detail, remedy)
    : found;
}
