/** What to do about each failure of an account at its service. */
import { FAILURES, type PaylinkError } from "../domain/errors.ts";
import { parseWebAddress } from "../domain/addresses.ts";
import type { Account } from "./account-check.ts";

/** The HTTP status that the service answered; undefined if it did not answer. */
export function statusOf({ details }: PaylinkError): number | undefined {
  return typeof details["status"] === "number" ? details["status"] : undefined;
}

/** The service's own words for an error, with its code. */
const wordsOf = ({ details }: PaylinkError): string =>
  `${String(details["code"])} ${String(details["service"])}`;

export const isPage = (error: PaylinkError): boolean =>
  String(error.details["service"]).startsWith("an HTML page");

export function endpointRemedy(error: PaylinkError, { fix }: Account): string | undefined {
  const status = statusOf(error);
  if (status === undefined)
    return certificateHint(error) ?? `Check the token URL: ${fix("tokenUrl", "<url>")}`;
  if ((status >= 300 && status < 400) || status === 404 || status === 405 || isPage(error))
    return `Check the token URL: ${fix("tokenUrl", "<url>")}`;
  if (error.code === "overloaded" || status >= 500) return "The token endpoint failed. Try again later.";
  if (/scope/i.test(wordsOf(error)))
    return `Set the scope that the service expects: ${fix("tokenScope", "<scope>")}`;
  return [
    `Check the client id and the client secret: ${fix("clientId", "<id>")}`,
    `If they are right, the service may expect them elsewhere in the request: ${fix("tokenAuth", "post")}`,
  ].join("\n");
}

/** The client's hint about a certificate; its usual hint is about a link. */
export const certificateHint = ({ hint }: PaylinkError): string | undefined =>
  hint === FAILURES.not_reached.hint ? undefined : hint;

export const VERSION = /\/v\d+$/;

export function addressRemedy({ settings, fix }: Account): string {
  const baseUrl = settings.get("baseUrl") ?? "";
  if (VERSION.test(baseUrl))
    return `The base URL must not end in ${VERSION.exec(baseUrl)?.[0]}: ${fix("baseUrl", baseUrl.replace(VERSION, ""))}`;
  return [
    `Check the address of the service: ${fix("baseUrl", "<url>")}`,
    `and where its links are: ${fix("linksPath", "<path>")}`,
  ].join("\n");
}

export function redirectRemedy(location: unknown, account: Account): string {
  const target = parseWebAddress(String(location));
  const { origin = "" } = parseWebAddress(account.settings.get("baseUrl") ?? "") ?? {};
  return target === undefined || target.origin === origin
    ? addressRemedy(account)
    : `paylink does not send a token to a redirect target. If that is the service: ${account.fix("baseUrl", target.origin)}`;
}

export function forbiddenRemedy(error: PaylinkError, { fix }: Account): string {
  const scope = `the scope of the token: ${fix("tokenScope", "<scope>")}`;
  if (/scope/i.test(wordsOf(error))) return `The token is valid, but not for links. Set ${scope}`;
  return [
    "The token is valid, but not for this request.",
    `Check the terminal: ${fix("terminalId", "<id>")}`,
    `and ${scope}`,
  ].join("\n");
}
