/** Checks an account at its service, and the addresses that the service must reach: one result for each part, with remedies. */
import { PaylinkError, hint, paylink, type CommandLine, type Hint } from "../domain/errors.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import type { ConfigKey } from "../settings/setting-table.ts";
import { serviceLabel } from "../domain/known-services.ts";
import { isExposed, isLoopback, parseWebAddress } from "../domain/addresses.ts";
import type { Api } from "./client.ts";
import { tokenExpiry } from "./tokens.ts";
import { formatRelative } from "../domain/time.ts";
import { connectionHint } from "./failures.ts";

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

/** An account, stored or not. */
export interface Account {
  readonly settings: ResolvedSettings;
  /** How the user sets a value: with `login` or `config set`. */
  readonly fix: (key: ConfigKey, value: string) => CommandLine;
}

export const passed = (check: string, detail: string): Check => ({
  check,
  state: "ok",
  detail,
  remedies: [],
});

/** Not configured and not needed, or not checked because an earlier check failed. */
export const skipped = (check: string, detail: string, ...remedies: readonly Hint[]): Check => ({
  check,
  state: "skipped",
  detail,
  remedies,
});

export const warned = (check: string, detail: string, ...remedies: readonly Hint[]): Check => ({
  check,
  state: "warning",
  detail,
  remedies,
});

/** `remedies` replace the failure's own hints. */
export const failed = (check: string, failure: PaylinkError, ...remedies: readonly Hint[]): Check => ({
  check,
  state: "failed",
  detail: failure.message,
  remedies: remedies.length > 0 ? remedies : failure.hints,
  failure,
});

/** The failure as a value. Bugs and interruptions are thrown. */
export async function attempt<T>(action: Promise<T>): Promise<T | PaylinkError> {
  return action.catch((error: unknown) => {
    if (error instanceof PaylinkError && error.exit < 100 && error.code !== "internal") return error;
    throw error;
  });
}

const CALLBACKS = "callback addresses";

export function checkCallbacks(account: Account): Check {
  const { settings, fix } = account;
  const keys = ["callbackUrl", "failureCallbackUrl"] as const;
  const problems = keys.flatMap((key) => {
    const problem = problemOf(settings.get(key), account);
    return problem === undefined ? [] : [{ key, problem }];
  });
  const [first] = problems;
  if (first !== undefined)
    return warned(
      CALLBACKS,
      problems.map(({ key, problem }) => `${key} ${settings.get(key)} ${problem}`).join("; "),
      hint`Set an https address that the service reaches: ${fix(first.key, "<url>")}`,
    );
  const set = keys.flatMap((key) => settings.get(key) ?? []);
  if (settings.get("callbackUrl") !== undefined) return passed(CALLBACKS, [...new Set(set)].join(", "));
  return warned(
    CALLBACKS,
    "no callbackUrl: the service reports payments only for links that name a callback address",
    [fix("callbackUrl", "<url>")],
  );
}

export function checkPublicUrl(account: Account): Check {
  const { settings, fix } = account;
  const publicUrl = settings.get("publicUrl");
  if (publicUrl === undefined) return skipped("public URL", "not set: needed behind a proxy or a tunnel");
  const problem = problemOf(publicUrl, account);
  return problem === undefined
    ? passed("public URL", publicUrl)
    : warned("public URL", `${publicUrl} ${problem}`, [fix("publicUrl", "<url>")]);
}

function problemOf(address: string | undefined, { settings }: Account): string | undefined {
  const url = parseWebAddress(address ?? "");
  if (url === undefined) return undefined;
  const atSandbox = serviceLabel(settings.get("baseUrl") ?? "") === "sandbox";
  if (isLoopback(url.hostname) && !atSandbox)
    return "is an address of this machine, which the service cannot reach";
  return isExposed(url) ? "is not https: others can read and change what is sent there" : undefined;
}

export interface AccountAtService extends Account {
  /** Throws `no_token`, or `usage` for an unusable client certificate. */
  readonly api: () => Promise<Api>;
  readonly now: Date;
}

const ENDPOINT = "token endpoint";
const TOKEN = "token";
const LINKS = "links endpoint";
const TRANSACTION = "transaction address";

export async function checkService(account: AccountAtService): Promise<Check[]> {
  const api = await attempt(account.api());
  if (api instanceof PaylinkError)
    return [skipped(ENDPOINT, "not checked"), failed(TOKEN, api), ...unchecked([LINKS, TRANSACTION], TOKEN)];
  const endpoint = await checkTokenEndpoint(api, account);
  if (endpoint.state === "failed") return [endpoint, ...unchecked([TOKEN, LINKS, TRANSACTION], ENDPOINT)];
  const listed = await listLinks(api, account);
  const links = checkLinks(listed, account);
  if (listed instanceof PaylinkError && statusOf(listed) === undefined)
    return [endpoint, ...unchecked([TOKEN], LINKS), links, ...unchecked([TRANSACTION], LINKS)];
  const read = await readTransaction(api, account);
  const token = checkToken([listed, read], account);
  if (token.state === "failed") return [endpoint, token, ...unchecked([LINKS, TRANSACTION], TOKEN)];
  return [endpoint, token, links, checkTransaction(read, account)];
}

const unchecked = (checks: readonly string[], cause: string): Check[] =>
  checks.map((check) => skipped(check, `not checked, because of the ${cause}`));

async function checkTokenEndpoint(api: Api, account: AccountAtService): Promise<Check> {
  const { settings } = account;
  const renewed = await attempt(api.renewToken());
  if (renewed instanceof PaylinkError)
    return failed(ENDPOINT, renewed, ...endpointRemedies(renewed, account));
  if (!renewed) return skipped(ENDPOINT, "not needed: the account has a token of its own");
  return passed(ENDPOINT, `${settings.get("tokenUrl") ?? ""} gave an access token`);
}

type Answer = PaylinkError | "answered" | undefined;

/** Milliseconds: one day of links is enough to see whether the service lists them. */
const PERIOD = 86_400_000;

/** Undefined without a terminal, which the operation needs. */
async function listLinks(api: Api, { settings, now }: AccountAtService): Promise<Answer> {
  const terminalId = settings.get("terminalId");
  if (terminalId === undefined) return undefined;
  const from = new Date(now.getTime() - PERIOD);
  const page = await attempt(api.listLinks({ terminalId, from, to: now, page: 1, size: 1 }));
  return page instanceof PaylinkError ? page : "answered";
}

function checkLinks(listed: Answer, account: Account): Check {
  const { settings, fix } = account;
  if (listed === undefined)
    return warned(
      LINKS,
      "not checked, because no terminal is set",
      hint`Each ${paylink("create")} needs --terminal-id. To store a default: ${fix("terminalId", "<id>")}`,
    );
  if (!(listed instanceof PaylinkError))
    return passed(
      LINKS,
      `${settings.get("baseUrl") ?? ""} lists the links of terminal ${settings.get("terminalId") ?? ""}`,
    );
  const status = statusOf(listed);
  if (status === undefined) return failed(LINKS, listed, ...connectionRemedies(listed, account));
  const { location } = listed.details;
  if (listed.code === "redirected") return failed(LINKS, listed, ...redirectRemedies(location, account));
  if (status === 403) return failed(LINKS, listed, ...forbiddenRemedies(listed, account));
  if (listed.code === "overloaded" || status >= 500) return failed(LINKS, listed, hint`Try again later.`);
  if (isWrongAddress(listed, status, account)) return failed(LINKS, listed, ...addressRemedies(account));
  if (status === 404 || status === 405 || status < 300)
    return warned(
      LINKS,
      `${listed.message} The service may have no list of links, or the address is wrong.`,
      ...addressRemedies(account),
    );
  return failed(LINKS, listed, hint`Check the terminal: ${fix("terminalId", "<id>")}`);
}

/** An HTML page, or a 404 although a built-in service lists links. Another service may have no list of links. */
function isWrongAddress(error: PaylinkError, status: number, { settings }: Account): boolean {
  if (isPage(error)) return true;
  if (status !== 404) return false;
  return settings.get("service") !== undefined || VERSION.test(settings.get("baseUrl") ?? "");
}

/** No transaction has this uti: reading it has no effect. */
const NO_UTI = "00000000-0000-0000-0000-000000000000";

async function readTransaction(api: Api, { settings }: Account): Promise<Answer> {
  if (settings.get("transactionUrl") === undefined) return undefined;
  const read = await attempt(api.readTransaction(NO_UTI));
  return read instanceof PaylinkError ? read : "answered";
}

function checkTransaction(read: Answer, { settings, fix }: Account): Check {
  const address = settings.find("transactionUrl");
  if (address === undefined)
    return skipped(TRANSACTION, "not set", hint`${paylink("transaction")} needs it.`);
  // The right answer to an unknown uti.
  const isUnknown =
    read instanceof PaylinkError && (read.code === "refused" || read.code === "usage") && !isPage(read);
  if (!(read instanceof PaylinkError) || isUnknown) return passed(TRANSACTION, address.value);
  const remedy = hint`${paylink("transaction")} needs it: ${fix("transactionUrl", "<path or URL with {uti}>")}`;
  return address.source === "default"
    ? warned(TRANSACTION, read.message, remedy)
    : failed(TRANSACTION, read, remedy);
}

function checkToken(answers: readonly Answer[], { settings, now, fix }: AccountAtService): Check {
  const token = settings.get("token");
  const expiry = token === undefined ? undefined : tokenExpiry(token);
  const isPast = expiry !== undefined && expiry < now;
  const about =
    expiry === undefined ? "" : `, ${isPast ? "expired" : "expires"} ${formatRelative(expiry, now)}`;
  const refusal = answers.find((answer) => answer instanceof PaylinkError && statusOf(answer) === 401);
  if (refusal instanceof PaylinkError) {
    const remedies =
      token === undefined
        ? [
            hint`The token is new, so check how it is sent: ${fix("authHeader", "Authorization: Bearer {token}")}`,
            hint`and its scope: ${fix("tokenScope", "<scope>")}`,
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
  if (!(answer instanceof PaylinkError)) return answer === "answered";
  return [400, 403, 422].includes(statusOf(answer) ?? 0) && !isPage(answer);
}

/** The HTTP status that the service answered; undefined if it did not answer. */
export function statusOf({ details }: PaylinkError): number | undefined {
  return typeof details["status"] === "number" ? details["status"] : undefined;
}

/** The service's own words for an error, with its code. */
const wordsOf = ({ details }: PaylinkError): string =>
  `${String(details["code"])} ${String(details["service"])}`;

export const isPage = (error: PaylinkError): boolean =>
  String(error.details["service"]).startsWith("an HTML page");

export function endpointRemedies(error: PaylinkError, { fix }: Account): readonly Hint[] {
  const status = statusOf(error);
  const address = hint`Check the token URL: ${fix("tokenUrl", "<url>")}`;
  if (status === undefined) return [connectionHint(error.cause) ?? address];
  if ((status >= 300 && status < 400) || status === 404 || status === 405 || isPage(error)) return [address];
  if (error.code === "overloaded" || status >= 500)
    return [hint`The token endpoint failed. Try again later.`];
  if (/scope/i.test(wordsOf(error)))
    return [hint`Set the scope that the service expects: ${fix("tokenScope", "<scope>")}`];
  return [
    hint`Check the client id and the client secret: ${fix("clientId", "<id>")}`,
    hint`If they are right, the service may expect them elsewhere in the request: ${fix("tokenAuth", "post")}`,
  ];
}

/** For a service that did not answer. */
export function connectionRemedies({ cause }: PaylinkError, account: Account): readonly Hint[] {
  const step = connectionHint(cause);
  return step === undefined ? addressRemedies(account) : [step];
}

export const VERSION = /\/v\d+$/;

export function addressRemedies({ settings, fix }: Account): readonly Hint[] {
  const baseUrl = settings.get("baseUrl") ?? "";
  if (VERSION.test(baseUrl))
    return [
      hint`The base URL must not end in ${VERSION.exec(baseUrl)?.[0] ?? ""}: ${fix("baseUrl", baseUrl.replace(VERSION, ""))}`,
    ];
  return [
    hint`Check the address of the service: ${fix("baseUrl", "<url>")}`,
    hint`and where its links are: ${fix("linksPath", "<path>")}`,
  ];
}

export function redirectRemedies(location: unknown, account: Account): readonly Hint[] {
  const target = parseWebAddress(String(location));
  const { origin = "" } = parseWebAddress(account.settings.get("baseUrl") ?? "") ?? {};
  return target === undefined || target.origin === origin
    ? addressRemedies(account)
    : [
        hint`paylink does not send a token to a redirect target. If that is the service: ${account.fix("baseUrl", target.origin)}`,
      ];
}

export function forbiddenRemedies(error: PaylinkError, { fix }: Account): readonly Hint[] {
  const scope = hint`the scope of the token: ${fix("tokenScope", "<scope>")}`;
  if (/scope/i.test(wordsOf(error))) return [hint`The token is valid, but not for links. Set ${scope}`];
  return [
    hint`The token is valid, but not for this request.`,
    hint`Check the terminal: ${fix("terminalId", "<id>")}`,
    hint`and ${scope}`,
  ];
}
