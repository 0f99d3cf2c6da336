/** The `key` option: every form that `--key` takes, as sources that are read once and renewed as the listener's are. */
import { KeyObject, type webcrypto } from "node:crypto";
import { parseWebAddress } from "../values/addresses.ts";
import { shownPath } from "../values/secrets.ts";
import { PaylinkError } from "../domain/errors.ts";
import { capitalized, sentence } from "../values/sentence.ts";
import { messageOf, systemReason } from "../values/system-reason.ts";
import { decoded } from "../http/content-coding.ts";
import { SendError, type Send } from "../http/exchange.ts";
import { targetUri, type HeaderLine } from "../http/message.ts";
import { keyLocation, MAX_KEY_REPLY, problemOfSource, type KeySource } from "../receiver/key-sources.ts";
import { openKeyring, type KeyAccess, type Keyring } from "../receiver/keyring.ts";
import { sourcesIn } from "../signatures/key-text.ts";
import { publicPem } from "../signatures/keys.ts";
import type { VerifierOptions, WebhookKey } from "./types.ts";
import { bytesIn, webBody } from "./request-body.ts";
import { WebhookError } from "./webhook-error.ts";

/** What keyrings need of the runtime. */
export interface KeyringAccess extends Pick<KeyAccess, "send" | "now" | "warn"> {
  /** At once, so that a file that cannot be read is found when the application starts. Throws the system's error. */
  readonly readFile: (path: string) => Uint8Array;
}

/** Reads the keys. Rejects with a WebhookError where they cannot be read now. */
export async function openKeys(sources: readonly KeySource[], access: KeyringAccess): Promise<Keyring> {
  const readFile = async (path: string): Promise<Uint8Array> => readKeyFile(path, access);
  try {
    return await openKeyring(sources, { ...access, readFile, place: "the key option", effect: "receive" });
  } catch (error) {
    if (!(error instanceof PaylinkError)) throw error;
    const { code, message } = error;
    if (code !== "not_reached" && code !== "key_invalid" && code !== "file_unreadable") throw error;
    // 500 or 503, so that the service sends the webhook again once there is a key.
    throw new WebhookError(code, `${message} No webhook can be verified until this is fixed.`, {
      cause: error,
    });
  }
}

/**
 * The sources that an option names. Throws a TypeError if it names none, or if none can ever verify a webhook, so that an application
 * fails when it starts and not at its first webhook.
 */
export function keySourcesOf(option: VerifierOptions["key"], access: KeyringAccess): readonly KeySource[] {
  const sources = (Array.isArray(option) ? option : [option]).flatMap(sourceOf);
  if (sources.length === 0)
    throw new TypeError(
      "The option key is missing: there is nothing to verify webhooks with. Pass the service's public key, or the URL of its key set. An environment variable that is not set is undefined. For the sandbox: export PAYLINK_WEBHOOK_KEY=$(paylink config get webhookKey -p sandbox)",
    );
  const problems = sources.flatMap((source) => keyProblemWith(source, access) ?? []);
  if (problems.length === sources.length)
    throw new TypeError(
      ["The option key cannot be used.", ...problems.map((one) => sentence(capitalized(one)))].join(" "),
    );
  return sources;
}

/** A URL is read with the first webhook. */
function keyProblemWith(source: KeySource, access: KeyringAccess): string | undefined {
  const place = keyLocation(source);
  const isFile = place !== undefined && parseWebAddress(place) === undefined;
  try {
    return problemOfSource(isFile ? readKeyFile(place, access) : source);
  } catch (error) {
    return messageOf(error);
  }
}

/** Throws `file_unreadable`. */
function readKeyFile(path: string, { readFile }: KeyringAccess): Uint8Array {
  try {
    return readFile(path);
  } catch (error) {
    const reason = `The key file ${shownPath(path)} cannot be read: ${systemReason(error)}.`;
    throw new PaylinkError("file_unreadable", reason, { cause: error });
  }
}

/** An unset environment variable is not a source. Applications in JavaScript may pass anything, also from another realm. */
function sourceOf(key: WebhookKey | null | undefined): KeySource | readonly KeySource[] {
  if (key === undefined || key === null) return [];
  if (typeof key === "string") return key.trim() === "" ? [] : sourcesIn(key);
  const bytes = bytesIn(key);
  if (bytes !== undefined) return bytes;
  if (isUrl(key)) return key.href;
  if (isCryptoKey(key)) return publicPem(KeyObject.from(key));
  if (key instanceof KeyObject) return publicPem(key);
  if (typeof key === "object") return JSON.stringify(key);
  throw new TypeError(
    `The option key is a ${typeof key}. Pass a PEM, a JWK, a KeyObject, the path or URL of a key, or a list of them.`,
  );
}

/** By the name that its class gives it: a test runner such as Jest has classes of its own. */
const isOf = (name: string, value: unknown): boolean =>
  Object.prototype.toString.call(value) === `[object ${name}]`;

const isUrl = (key: unknown): key is URL => isOf("URL", key);
const isCryptoKey = (key: unknown): key is webcrypto.CryptoKey => isOf("CryptoKey", key);

export const sendByFetch =
  (fetch: (url: string, init: RequestInit) => Promise<Response>): Send =>
  async (request, { timeout = 10_000 } = {}) => {
    const { method } = request;
    try {
      const response = await fetch(targetUri(request), {
        method,
        // If the label names a coding that the bytes do not have, fetch fails and does not return the bytes.
        headers: [...request.headers, ["Accept-Encoding", "identity"]].map(
          ([name = "", value = ""]): [string, string] => [name, value],
        ),
        redirect: "manual",
        signal: AbortSignal.timeout(timeout),
      });
      const body = await webBody(response.body, response.bodyUsed, MAX_KEY_REPLY);
      if (body.kind !== "bytes") throw new SendError("the answer is incomplete or too large", true);
      const headers: HeaderLine[] = [];
      response.headers.forEach((value, name) => headers.push([name, value]));
      const { reply } = await decoded({ status: response.status, headers, body: body.bytes }, MAX_KEY_REPLY);
      return reply;
    } catch (error) {
      throw error instanceof SendError ? error : new SendError(fetchFailure(error), true, error);
    }
  };

/** `fetch` hides its reason in the cause. */
const fetchFailure = (error: unknown): string =>
  systemReason(error instanceof Error && error.cause !== undefined ? error.cause : error);
