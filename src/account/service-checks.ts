/** Checks an account at its service: the token endpoint, the token, the links and the transaction address. */
import type { Api } from "../api/client.ts";
import { tokenExpiry } from "../api/tokens.ts";
import { hint, paylink, PaylinkError } from "../domain/errors.ts";
import { formatRelative } from "../domain/time.ts";
import { attempt, failed, passed, skipped, warned, type Account, type Check } from "./account-check.ts";
import {
  addressRemedies,
  connectionRemedies,
  endpointRemedies,
  forbiddenRemedies,
  isPage,
  redirectRemedies,
  statusOf,
  VERSION,
} from "./service-remedies.ts";

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
