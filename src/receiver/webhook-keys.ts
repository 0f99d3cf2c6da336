/** Reads public keys from files, URLs and texts, and renews them while they are in use. */
import { isExposed, parseWebAddress } from "../domain/addresses.ts";
import { isKeyText } from "../domain/key-text.ts";
import { withoutPassword } from "../domain/url-passwords.ts";
import { PaylinkError, type WebhookEffect } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import { shownPath } from "../domain/secrets.ts";
import { messageOf } from "../domain/system-reason.ts";
import { SandboxNotRunning, type Send } from "../http/exchange.ts";
import { addressOf, fieldLines, type HttpReply } from "../http/message.ts";
import { expiryWarning, keyProblem } from "../signatures/key-rules.ts";
import { readKeys, type VerificationKey } from "../signatures/keys.ts";
import type { RunKeys } from "./event.ts";
import type { CurrentKeys } from "./judge.ts";

/** A file, a URL, the text of a key, or its bytes. */
export type KeySource = string | Uint8Array;

interface KeyReading {
  readonly readFile: (path: string, place: string) => Promise<Uint8Array>;
  readonly send: Send;
  /** Where the sources are named: a flag or a setting. */
  readonly place: string;
  /** What the keys are for. */
  readonly effect: WebhookEffect;
  /** Ends the reading of keys. */
  readonly signal?: AbortSignal | undefined;
}

export interface KeyAccess extends KeyReading {
  readonly now: () => Date;
  /** Called with each problem of a key that is still used. */
  readonly warn: (warning: string) => void;
}

/** Keys, and what to say of them, which depends on the time that they are used at. */
interface LoadedKeys {
  readonly keys: readonly VerificationKey[];
  readonly warningsAt: (now: Date) => readonly string[];
}

/**
 * Milliseconds between two renewals for keys that are not known: six a minute, so that forged webhooks cannot flood the
 * key's server, and a new key is found within seconds even while they try.
 */
const RENEWAL_PAUSE = 10_000;

/** Milliseconds after which keys from a URL are read again, unless their server says otherwise within the bounds. */
const LIFETIME = { default: 600_000, least: 60_000, most: 3_600_000 };

/** Milliseconds after a failure until a URL is read again, if nothing asks for it before. */
const RETRY_PAUSE = 60_000;

export interface Keyring {
  /** The keys in use now; a promise while those of a URL are read again because their time has passed. */
  readonly keys: () => CurrentKeys;
  /** Every key of this run: read so far, also one that has gone from its source since, or named by its thumbprint. */
  readonly read: () => RunKeys;
  /** Reads every source again. Resolves with false, without reading, if the last renewal was a moment ago. */
  readonly renew: () => Promise<boolean>;
}

/**
 * Keys that are read again while in use: those of a URL when their time has passed, all of them for a key that may be new. A key that
 * has gone from its source is not used any more. If a source can no longer be read, its last keys stay in use. `earlier` keys
 * verify nothing. Throws `key_invalid`, `file_unreadable`, `not_reached`.
 */
export async function openKeyring(
  sources: readonly KeySource[],
  io: KeyAccess,
  earlier: RunKeys = [],
): Promise<Keyring> {
  const time = (): number => io.now().getTime();
  const opened: Awaited<ReturnType<typeof openSource>>[] = [];
  for (const source of sources) opened.push(await openSource(source, io));
  let thumbprints = earlier;
  const keysNow = (): readonly VerificationKey[] => {
    const keys = opened.flatMap((source) => source.keys());
    thumbprints = thumbprintsOf(keys, thumbprints);
    return keys;
  };
  let inUse = keysNow();
  requireUsable(inUse, io.effect);
  const read = async (some: typeof opened): Promise<readonly VerificationKey[]> => {
    await Promise.all(some.map((source) => source.read()));
    return (inUse = keysNow());
  };
  let renewal: Promise<unknown> | undefined;
  // Opening does not count as a renewal, so that the next webhook finds a key that changes within the first seconds.
  let renewedAt = Number.NEGATIVE_INFINITY;
  return {
    read: () => thumbprints,
    keys: () => {
      const now = time();
      const due = opened.filter(({ isDue }) => isDue(now));
      if (due.length === 0) return inUse;
      const reading = read(due);
      // Where the last attempt failed, nobody waits for the next one.
      return due.every(({ hasFailed }) => hasFailed()) ? inUse : reading;
    },
    renew: async () => {
      if (renewal === undefined) {
        if (Math.abs(time() - renewedAt) < RENEWAL_PAUSE) return false;
        renewedAt = time();
        renewal = read(opened).finally(() => (renewal = undefined));
      }
      await renewal;
      return true;
    },
  };
}

/** Where no key can ever verify a webhook, nothing starts. Throws `key_invalid`. */
function requireUsable(keys: readonly VerificationKey[], effect: KeyReading["effect"]): void {
  const problems = keys.map((key) => keyProblem(key));
  const [first] = problems;
  if (first === undefined || problems.includes(undefined)) return;
  const which = keys.length === 1 ? "The key cannot" : `None of the ${keys.length} keys can`;
  throw new PaylinkError("key_invalid", `${which} verify webhooks: ${first.message} (${first.reason}).`, {
    effect,
    details: { reason: first.reason },
  });
}

/** The keys of a run: these, and those that it had before. */
export const thumbprintsOf = (keys: readonly VerificationKey[], before: RunKeys = []): RunKeys => [
  ...new Set([...before, ...keys.map(({ thumbprint }) => thumbprint)]),
];

/** A source while it is in use. */
async function openSource(source: KeySource, io: KeyAccess) {
  const time = (): number => io.now().getTime();
  let keys: readonly VerificationKey[] = [];
  let [readAt, dueAt] = [0, 0];
  /** What was said of the keys, and why they could not be read again: said once, however often they are read. */
  let warnings: readonly string[] = [];
  let failure: string | undefined;
  let reading: Promise<void> | undefined;
  const read = async (signal?: AbortSignal): Promise<void> => {
    const loaded = await readSource(source, { ...io, signal });
    const found = loaded.warningsAt(io.now());
    for (const warning of found) if (!warnings.includes(warning)) io.warn(warning);
    ({ keys } = loaded);
    [warnings, failure, readAt, dueAt] = [found, undefined, time(), time() + loaded.lifetime];
  };
  const keepLast = (error: unknown): void => {
    const words = `The keys read before stay in use. ${messageOf(error)}`;
    if (words !== failure) io.warn(words);
    [failure, dueAt] = [words, time() + RETRY_PAUSE];
  };
  await read(io.signal);
  return {
    keys: () => keys,
    // A clock that was set back must not make keys live longer.
    isDue: (now: number) => now >= dueAt || now < readAt,
    hasFailed: () => failure !== undefined,
    read: () =>
      (reading ??= read()
        .catch(keepLast)
        .finally(() => (reading = undefined))),
  };
}

/** The keys of every source together. Throws as `openKeyring` does. */
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
  if (typeof source === "string" && !isKeyText(source)) {
    const url = parseWebAddress(source);
    if (url !== undefined) requireTls(url);
    return undefined;
  }
  const problems = keysIn(source, source).keys.map((key) => keyProblem(key)?.message);
  return problems.includes(undefined) ? undefined : problems[0];
}

/** `lifetime`: the milliseconds after which they must be read again. Files and texts are read again only when asked to. */
async function readSource(
  source: KeySource,
  io: KeyReading,
): Promise<LoadedKeys & { readonly lifetime: number }> {
  const lifetime = Number.POSITIVE_INFINITY;
  if (typeof source !== "string" || isKeyText(source))
    return { ...keysIn(source, source, io.effect), lifetime };
  const url = parseWebAddress(source);
  if (url === undefined)
    return { ...keysIn(await io.readFile(source, io.place), source, io.effect), lifetime };
  const reply = await fetchKey(url, io);
  return { ...keysIn(reply.body, source, io.effect), lifetime: lifetimeOf(reply) };
}

function keysIn(bytes: KeySource, source: KeySource, effect?: KeyReading["effect"]): LoadedKeys {
  const read = readKeys(bytes);
  const name =
    typeof source !== "string" || isKeyText(source) ? "the key" : shownPath(withoutPassword(source));
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
      hints: [cause instanceof SandboxNotRunning ? hint`Start it: ${paylink("sandbox")}` : GIVE_KEY_FILE],
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
  const [location] = status >= 300 && status <= 399 ? fieldLines(headers, "location") : [];
  if (location === undefined || !URL.canParse(location, url.href)) throw notFetched(`it answered ${status}`);
  const target = withoutPassword(new URL(location, url.href).href);
  throw new PaylinkError("key_invalid", `The key's address ${name} redirects to ${target}.`, {
    effect,
    hints: [
      hint`If you trust the target, set it as the key: ${paylink("config", "set", "webhookKey", "<url>")}`,
    ],
  });
}

const GIVE_KEY_FILE = hint`Start the service, or give a key file: --key <file>, or ${paylink("config", "set", "webhookKey", "<file>")}`;

/** Anyone who can change a key in transit can forge every webhook: plain http is for this machine only. */
function requireTls(url: URL, effect?: KeyReading["effect"]): void {
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
