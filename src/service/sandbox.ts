/** The sandbox of a command: which one it is, its controls, paying a link, and how a stopped sandbox is recognised. */
import { SendError, SandboxNotRunning, SendTimeout, type Send, type SendOptions } from "../http/exchange.ts";
import { addressOf, type HeaderLine, type HttpRequest } from "../http/message.ts";
import { isJsonObject, memberOf } from "../values/json.ts";
import { parseJsonObject } from "../values/parse-json.ts";
import { failureOfExchange, failureOfReply } from "./failures.ts";
import { isLoopback, parseWebAddress } from "../values/addresses.ts";
import { SANDBOX_PROFILE } from "../domain/known-services.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import type { SANDBOX_ACTIONS } from "../domain/operations.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import { profileNamed } from "../settings/profile.ts";
import { requireProfile } from "../settings/profile-names.ts";
import type { SettingsFile } from "../settings/settings-file.ts";

interface SandboxAddress {
  readonly baseUrl: URL;
  readonly token: string;
}

interface SandboxSources {
  /** The profile that the user named. */
  readonly named: { readonly profile?: string | undefined };
  readonly profiles: () => Promise<SettingsFile>;
}

/**
 * The sandbox for a command: the one that `paylink sandbox` registered. Throws `no_profile` if none is, and `usage` if the
 * command line or PAYLINK_PROFILE names another profile.
 */
export async function findSandbox({ named, profiles }: SandboxSources): Promise<SandboxAddress> {
  const stored = (await profiles()).profiles();
  const { profile: name = SANDBOX_PROFILE } = named;
  if (name !== SANDBOX_PROFILE) {
    requireProfile(name, stored);
    throw new PaylinkError("usage", `Profile ${name} is not the sandbox.`, {
      consequence: "Nothing was sent.",
      hints: [hint`Name the sandbox: --profile ${SANDBOX_PROFILE}`],
    });
  }
  const { baseUrl = "", token = "" } = profileNamed(stored, SANDBOX_PROFILE) ?? {};
  const address = parseWebAddress(baseUrl);
  const hints = [hint`To start one in another terminal: ${paylink`sandbox`}`];
  if (address === undefined) throw new PaylinkError("no_profile", "No sandbox is registered.", { hints });
  if (!isLoopback(address.hostname))
    throw new PaylinkError("usage", `${address.host} is not on this machine, so it is not a sandbox.`, {
      consequence: "Nothing was sent.",
      hints,
    });
  return { baseUrl: address, token };
}

/** Returns the JSON of the sandbox unchanged. */
export const control = (
  send: Send,
  { baseUrl, token }: SandboxAddress,
  path: string,
  form: URLSearchParams,
  signal: AbortSignal,
): Promise<string> => ask(send, new URL(path, baseUrl), { form, effect: "control", token, signal });

interface SandboxRequest extends SendOptions {
  /** Posted; without it, the question is a GET. */
  readonly form?: Readonly<Record<string, string>> | URLSearchParams;
  readonly effect: keyof typeof SANDBOX_ACTIONS;
  readonly token?: string;
}

/** Returns the body of the answer. Throws unless it is a 200. */
async function ask(
  send: Send,
  url: URL,
  { form, effect, token, ...options }: SandboxRequest,
): Promise<string> {
  const headers: HeaderLine[] = [["Accept", "application/json"]];
  if (form !== undefined) headers.push(["Content-Type", "application/x-www-form-urlencoded"]);
  if (token !== undefined) headers.push(["Authorization", `Bearer ${token}`]);
  const request = {
    method: form === undefined ? "GET" : "POST",
    ...addressOf(url),
    headers,
    body: new TextEncoder().encode(new URLSearchParams(form).toString()),
  };
  const reply = await send(request, options).catch((error: unknown) => {
    throw failureOfExchange(error, effect);
  });
  if (reply.status !== 200) throw failureOfReply(reply, effect);
  return new TextDecoder().decode(reply.body);
}

/** The payments through a link, the newest first. Throws `not_reached` if something else answers. */
export async function linkPayments(
  send: Send,
  { baseUrl, token }: SandboxAddress,
  link: string,
  signal: AbortSignal,
): Promise<readonly TransactionRecord[]> {
  const url = new URL(`/sandbox/links/${encodeURIComponent(link)}/payments`, baseUrl);
  const answer = parseJsonObject(await ask(send, url, { effect: "payments", token, signal }));
  const records = memberOf(answer ?? {}, "records");
  return Array.isArray(records) ? records.filter(isJsonObject) : [];
}

/** The failure to throw instead; `registered` gives the base URL of the sandbox's profile. */
export async function nameStoppedSandbox(
  error: unknown,
  { scheme, authority }: HttpRequest,
  registered: () => Promise<string | undefined>,
): Promise<unknown> {
  if (!(error instanceof SendError) || error.sent || error instanceof SendTimeout) return error;
  const asked = parseWebAddress(`${scheme}://${authority}`);
  if (asked === undefined || !isLoopback(asked.hostname)) return error;
  const sandbox = parseWebAddress((await registered()) ?? "");
  return sandbox !== undefined &&
    isLoopback(sandbox.hostname) &&
    asked.port === sandbox.port &&
    asked.protocol === sandbox.protocol
    ? new SandboxNotRunning("the sandbox is not running", false, error)
    : error;
}

/** Posts a form of the checkout. Throws `refused` if the sandbox refuses the payment, `not_reached` or `outcome_unknown` without an answer. */
export async function payAtCheckout(
  send: Send,
  url: URL,
  form: Readonly<Record<string, string>>,
): Promise<TransactionRecord> {
  const text = await ask(send, url, { form, effect: "pay" });
  const record = parseJsonObject(text);
  if (record === undefined)
    throw new PaylinkError(
      "refused",
      `${url.origin} is not a sandbox: it did not answer with a transaction record.`,
      { hints: [hint`Only links of the sandbox can be paid from here. Check the link.`] },
    );
  return record;
}
