/** What to do about each failure of an account at its service. */
import { hint, type Hint, type PaylinkError } from "../domain/errors.ts";
import { parseWebAddress } from "../domain/addresses.ts";
import { connectionHint } from "../api/failures.ts";
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
