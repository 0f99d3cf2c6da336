/** Reads public keys once, from files, URLs and texts. */
import { isExposed, parseWebAddress } from "../domain/addresses.ts";
import { PaylinkError, type WebhookEffect } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import { isKeyText } from "../domain/key-text.ts";
import { withoutPassword } from "../domain/url-passwords.ts";
import { shownPath } from "../domain/secrets.ts";
import { messageOf } from "../domain/system-reason.ts";
import { SandboxNotRunning, type Send } from "../http/exchange.ts";
import { addressOf, fieldLines, type HttpReply, isRedirect } from "../http/message.ts";
import { expiryWarning, keyProblem } from "../signatures/key-rules.ts";
import { readKeys, type VerificationKey } from "../signatures/keys.ts";

/** A file, a URL, the text of a key, or its bytes. */
export type KeySource = string | Uint8Array;

export interface KeyReading {
  readonly readFile: (path: string, place: string) => Promise<Uint8Array>;
  readonly send: Send;
  /** Where the sources are named: a flag or a setting. */
  readonly place: string;
  /** What the keys are for. */
  readonly effect: WebhookEffect;
  /** Ends the reading of keys. */
  readonly signal?: AbortSignal | undefined;
}

/** Keys, and what to say of them, which depends on the time that they are used at. */
export interface LoadedKeys {
  readonly keys: readonly VerificationKey[];
  readonly warningsAt: (now: Date) => readonly string[];
}

/** The keys of one source. */
export interface LoadedSource extends LoadedKeys {
  /** The milliseconds after which they must be read again. Files and texts are read again only when asked to. */
  readonly lifetime: number;
}

/** Milliseconds after which keys from a URL are read again, unless their server says otherwise within the bounds. */
const LIFETIME = { default: 600_000, least: 60_000, most: 3_600_000 };

/** The keys of every source together. Throws as `readSource` does. */
export async function loadKeys(sources: readonly string[], io: KeyReading): Promise<LoadedKeys> {
  const read: LoadedKeys[] = [];
  for (const source of sources) read.push(await readSource(source, io));
  return {
    keys: read.flatMap(({ keys }) => keys),
    warningsAt: (now) => read.flatMap(({ warningsAt }) => warningsAt(now)),
  };
}

/** Why a source can never verify a webhook, as far as can be told without reading a file or asking a server. Throws `key_invalid` for what is no key. */
export function problemOfSource(source: KeySource): string | undefined {
  const place = keyLocation(source);
  if (place !== undefined) {
    const url = parseWebAddress(place);
    if (url !== undefined) requireTls(url);
    return undefined;
  }
  const problems = keysIn(source, "the key").keys.map((key) => keyProblem(key)?.message);
  return problems.includes(undefined) ? undefined : problems[0];
}

/** Throws `key_invalid`, `file_unreadable`, `not_reached`. */
export async function readSource(source: KeySource, io: KeyReading): Promise<LoadedSource> {
  const lifetime = Number.POSITIVE_INFINITY;
  const place = keyLocation(source);
  if (place === undefined) return { ...keysIn(source, "the key", io.effect), lifetime };
  const name = shownPath(withoutPassword(place));
  const url = parseWebAddress(place);
  if (url === undefined) return { ...keysIn(await io.readFile(place, io.place), name, io.effect), lifetime };
  const reply = await fetchKey(url, io);
  return { ...keysIn(reply.body, name, io.effect), lifetime: lifetimeOf(reply) };
}

/** The path or the URL of a source; undefined for one that is the key itself. */
const keyLocation = (source: KeySource): string | undefined =>
  typeof source === "string" && !isKeyText(source) ? source : undefined;

/** `name` is what problems and warnings call the source. */
function keysIn(bytes: KeySource, name: string, effect?: WebhookEffect): LoadedKeys {
  const read = readKeys(bytes);
  if (!read.ok)
    throw new PaylinkError("key_invalid", `No key can be read from ${name}: ${read.message}.`, { effect });
  const { keys, warnings } = read.value;
  const warningsAt = (now: Date): readonly string[] => {
    const seconds = Math.floor(now.getTime() / 1000);
    const expiries = keys.flatMap((key) => expiryWarning(key, seconds) ?? []);
    return [...warnings, ...expiries].map((warning) => `${name}: ${warning}`);
  };
  return { keys, warningsAt };
}

/** In milliseconds: a webhook signed by a new key waits for the fetch, and its sender must not give up first. */
const FETCH_TIMEOUT = 5_000;

/** Bytes of a key or a key set. */
export const MAX_KEY_REPLY = 1024 * 1024;

async function fetchKey(url: URL, { send, signal, effect }: KeyReading): Promise<HttpReply> {
  requireTls(url, effect);
  const request = {
    method: "GET",
    ...addressOf(url),
    headers: [["Accept", "application/jwk-set+json, application/json, application/x-pem-file"]],
    body: new Uint8Array(),
  } as const;
  const name = withoutPassword(url.href);
  const notFetched = (reason: string, cause?: unknown): PaylinkError =>
    new PaylinkError("not_reached", `The key at ${name} cannot be fetched: ${reason}.`, {
      effect,
      hints: [cause instanceof SandboxNotRunning ? hint`Start it: ${paylink`sandbox`}` : GIVE_KEY_FILE],
      cause,
    });
  const reply = await send(request, { timeout: FETCH_TIMEOUT, maxReply: MAX_KEY_REPLY, signal }).catch(
    (error: unknown) => {
      signal?.throwIfAborted();
      throw notFetched(messageOf(error), error);
    },
  );
  const { status, headers } = reply;
  if (status === 200) return reply;
  // Redirects are not followed: the target may belong to someone else.
  const [location] = isRedirect(status) ? fieldLines(headers, "location") : [];
  if (location === undefined || !URL.canParse(location, url.href)) throw notFetched(`it answered ${status}`);
  const target = withoutPassword(new URL(location, url.href).href);
  throw new PaylinkError("key_invalid", `The key's address ${name} redirects to ${target}.`, {
    effect,
    hints: [hint`If you trust the target, set it as the key: ${paylink`config set webhookKey <url>`}`],
  });
}

const GIVE_KEY_FILE = hint`Start the service, or give a key file: --key <file>, or ${paylink`config set webhookKey <file>`}`;

/** Anyone who can change a key in transit can forge every webhook: plain http is for this machine only. */
function requireTls(url: URL, effect?: WebhookEffect): void {
  if (isExposed(url))
    throw new PaylinkError(
      "key_invalid",
      `${withoutPassword(url.href)} is not https: a key fetched without TLS can be replaced in transit.`,
      { effect },
    );
}

/** The `max-age` of the reply (RFC 9111 5.2.2.1), within the bounds. */
function lifetimeOf({ headers }: HttpReply): number {
  const directives = fieldLines(headers, "cache-control").join(",");
  const [, seconds] = /(?:^|[\s,])max-age=(\d+)/i.exec(directives) ?? [];
  if (seconds === undefined) return LIFETIME.default;
  return Math.min(Math.max(Number(seconds) * 1000, LIFETIME.least), LIFETIME.most);
}
