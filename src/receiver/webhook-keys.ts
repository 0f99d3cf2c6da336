/** Reads public keys from files, URLs and texts, and renews them while they are in use. */
import { isExposed, isKeyText, parseWebAddress, withoutPassword } from "../domain/addresses.ts";
import { hint, paylink, PaylinkError, type Hint } from "../domain/errors.ts";
import { messageOf } from "../domain/system-reason.ts";
import { SandboxNotRunning, type Send } from "../http/exchange.ts";
import { addressOf, fieldLines, type HttpReply } from "../http/message.ts";
import { expiryWarning, problemOf } from "../signatures/key-rules.ts";
import { readKeys, type VerificationKey } from "../signatures/keys.ts";
import type { CurrentKeys } from "./judge.ts";

/** A file, a URL, the text of a key, or its bytes. */
export type KeySource = string | Uint8Array;

interface KeyReading {
  readonly readFile: (path: string, place: string) => Promise<Uint8Array>;
  readonly send: Send;
  /** Where the sources are named: a flag or a setting. */
  readonly place: string;
  /** Ends the reading of keys. */
  readonly signal?: AbortSignal | undefined;
}

export interface KeyAccess extends KeyReading {
  readonly now: () => Date;
  /** Called with each problem of a key that is still used. */
  readonly warn: (warning: string) => void;
}

/** A key that cannot be used, and why: its text, its address without TLS, or the answer of its address. */
export class KeyFailure extends Error {
  override readonly name = "KeyFailure";
  readonly kind: "unreadable" | "exposed" | "redirected" | "forbidden" | "unreachable";
  /** Facts for scripts. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    kind: KeyFailure["kind"],
    message: string,
    { details = {}, cause }: { details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.details = details;
  }
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
  /** Reads every source again. Resolves with false, without reading, if the last renewal was a moment ago. */
  readonly renew: () => Promise<boolean>;
}

/** A source while it is in use. */
interface OpenSource {
  readonly source: KeySource;
  keys: readonly VerificationKey[];
  readAt: number;
  dueAt: number;
  /** What was said of the keys, and why they could not be read again: said once, however often they are read. */
  warnings: readonly string[];
  failure: string | undefined;
  reading: Promise<boolean> | undefined;
}

/**
 * Keys that are read again while in use: those of a URL when their time has passed, all of them for a key that may be new. A key that
 * has gone from its source is not used any more. If a source can no longer be read, its last keys stay in use.
 */
export async function openKeySources(sources: readonly KeySource[], io: KeyAccess): Promise<Keyring> {
  const time = (): number => io.now().getTime();
  const opened: OpenSource[] = [];
  const accept = (open: OpenSource, { keys, warningsAt, lifetime }: ReadSource): void => {
    const warnings = warningsAt(io.now());
    for (const warning of warnings) if (!open.warnings.includes(warning)) io.warn(warning);
    const readAt = time();
    Object.assign(open, { keys, warnings, readAt, dueAt: readAt + lifetime, failure: undefined });
  };
  for (const source of sources) {
    const open: OpenSource = { ...NOT_READ, source };
    accept(open, await readSource(source, io));
    opened.push(open);
  }
  let inUse = opened.flatMap(({ keys }) => keys);
  const readAgain = async (open: OpenSource): Promise<boolean> => {
    try {
      accept(open, await readSource(open.source, { ...io, signal: undefined }));
      inUse = opened.flatMap(({ keys }) => keys);
      return true;
    } catch (error) {
      const failure = `The keys read before stay in use. ${messageOf(error)}`;
      if (failure !== open.failure) io.warn(failure);
      open.failure = failure;
      open.dueAt = time() + RETRY_PAUSE;
      return false;
    }
  };
  const read = (open: OpenSource): Promise<boolean> =>
    (open.reading ??= readAgain(open).finally(() => (open.reading = undefined)));
  const readAll = async (): Promise<boolean> => (await Promise.all(opened.map(read))).every(Boolean);
  let renewal: Promise<boolean> | undefined;
  // Opening does not count as a renewal, so that the next webhook finds a key that changes within the first seconds.
  let renewedAt = Number.NEGATIVE_INFINITY;
  return {
    keys: () => {
      const now = time();
      // A clock that was set back must not make keys live longer.
      const due = opened.filter(({ dueAt, readAt }) => now >= dueAt || now < readAt);
      if (due.length === 0) return inUse;
      const reading = Promise.all(due.map(read));
      // Where the last attempt failed, nobody waits for the next one.
      return due.every(({ failure }) => failure !== undefined) ? inUse : reading.then(() => inUse);
    },
    renew: async () => {
      if (renewal === undefined) {
        if (Math.abs(time() - renewedAt) < RENEWAL_PAUSE) return false;
        renewedAt = time();
        renewal = readAll().finally(() => (renewal = undefined));
      }
      await renewal;
      return true;
    },
  };
}

const NOT_READ = {
  keys: [],
  readAt: 0,
  dueAt: 0,
  warnings: [],
  failure: undefined,
  reading: undefined,
} as const;

interface ReadSource extends LoadedKeys {
  /** For how many milliseconds they can be used without reading them again. */
  readonly lifetime: number;
}

async function readSource(source: KeySource, io: KeyReading): Promise<ReadSource> {
  const { bytes, lifetime } = await bytesOf(source, io);
  return { ...keysIn(bytes, source), lifetime };
}

/** Why a source can never verify a webhook, as far as can be told without reading a file or asking a server. Throws a KeyFailure for what is no key. */
export function problemOfSource(source: KeySource): string | undefined {
  if (typeof source === "string" && !isKeyText(source)) {
    const url = parseWebAddress(source);
    if (url !== undefined) requireTls(url);
    return undefined;
  }
  const problems = keysIn(source, source).keys.map((key) => problemOf(key)?.message);
  return problems.includes(undefined) ? undefined : problems[0];
}

function keysIn(bytes: KeySource, source: KeySource): LoadedKeys {
  const read = readKeys(bytes);
  const name = typeof source !== "string" || isKeyText(source) ? "the key" : withoutPassword(source);
  if (!read.ok) throw new KeyFailure("unreadable", `No key can be read from ${name}: ${read.reason}.`);
  const warningsAt = (now: Date): readonly string[] => {
    const seconds = Math.floor(now.getTime() / 1000);
    const expiries = read.keys.flatMap((key) => expiryWarning(key, seconds) ?? []);
    return [...read.warnings, ...expiries].map((warning) => `${name}: ${warning}`);
  };
  return { keys: read.keys, warningsAt };
}

/** Files and texts are read again only when asked to. */
interface SourceBytes {
  readonly bytes: Uint8Array;
  readonly lifetime: number;
}

async function bytesOf(source: KeySource, io: KeyReading): Promise<SourceBytes> {
  const lifetime = Number.POSITIVE_INFINITY;
  if (typeof source !== "string") return { bytes: source, lifetime };
  const { readFile, place } = io;
  if (isKeyText(source)) return { bytes: new TextEncoder().encode(source), lifetime };
  const url = parseWebAddress(source);
  return url === undefined ? { bytes: await readFile(source, place), lifetime } : fetchKey(url, io);
}

/** In milliseconds: a webhook signed by a new key waits for the fetch, and its sender must not give up first. */
const FETCH_TIMEOUT = 5_000;

/** Bytes of a key or a key set. */
const MAX_KEY_REPLY = 1024 * 1024;

async function fetchKey(url: URL, { send, signal }: KeyReading): Promise<SourceBytes> {
  requireTls(url);
  const request = {
    method: "GET",
    ...addressOf(url),
    headers: [["Accept", "application/jwk-set+json, application/json, application/x-pem-file"]],
    body: new Uint8Array(),
  } as const;
  let reply: HttpReply;
  try {
    reply = await send(request, { timeout: FETCH_TIMEOUT, maxReply: MAX_KEY_REPLY, signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw notFetched(url, messageOf(error), error);
  }
  if (reply.status === 200) return { bytes: reply.body, lifetime: lifetimeOf(reply) };
  throw refusedFetch(url, reply);
}

/** Anyone who can change a key in transit can forge every webhook: plain http is for this machine only. */
function requireTls(url: URL): void {
  if (isExposed(url))
    throw new KeyFailure(
      "exposed",
      `${withoutPassword(url.href)} is not https: a key fetched without TLS can be replaced in transit.`,
    );
}

/** The `max-age` of the reply (RFC 9111 5.2.2.1), within the bounds. */
function lifetimeOf({ headers }: HttpReply): number {
  const directives = fieldLines(headers, "cache-control").join(",");
  if (/(?:^|[\s,])no-(?:store|cache)(?=[\s,]|$)/i.test(directives)) return LIFETIME.least;
  const [, seconds] = /(?:^|[\s,])max-age="?(\d+)/i.exec(directives) ?? [];
  if (seconds === undefined) return LIFETIME.default;
  return Math.min(Math.max(Number(seconds) * 1000, LIFETIME.least), LIFETIME.most);
}

const notFetched = (url: URL, reason: string, cause?: unknown): KeyFailure =>
  new KeyFailure("unreachable", `The key at ${withoutPassword(url.href)} cannot be fetched: ${reason}.`, {
    cause,
  });

/** Redirects are not followed: the target may belong to someone else. */
function refusedFetch(url: URL, { status, headers }: HttpReply): KeyFailure {
  const [location] = fieldLines(headers, "location");
  if (status >= 300 && status <= 399 && location !== undefined) {
    const target = URL.canParse(location, url.href) ? new URL(location, url).href : location;
    return new KeyFailure(
      "redirected",
      `The key's address ${withoutPassword(url.href)} redirects to ${withoutPassword(target)}.`,
      {
        details: { status, location: target },
      },
    );
  }
  if (status === 401 || status === 403)
    return new KeyFailure(
      "forbidden",
      `The key's address ${withoutPassword(url.href)} answered ${status}: it requires a login, and paylink has none for keys.`,
      { details: { status } },
    );
  return notFetched(url, `it answered ${status}`);
}

interface CommandUse {
  /** What the command does with a key. */
  readonly effect: "receive" | "create" | "verify";
}

/** The keys of every source together. Throws `key_invalid`, `file_unreadable`, `not_reached`. */
export async function loadKeys(
  sources: readonly string[],
  access: KeyReading & CommandUse,
): Promise<LoadedKeys> {
  const read: LoadedKeys[] = [];
  for (const source of sources) read.push(await orFail(readSource(source, access), access));
  return {
    keys: read.flatMap(({ keys }) => keys),
    warningsAt: (now) => read.flatMap(({ warningsAt }) => warningsAt(now)),
  };
}

/** Keys that can be renewed while in use. Throws as `loadKeys` does. */
export const openKeyring = (sources: readonly string[], access: KeyAccess & CommandUse): Promise<Keyring> =>
  orFail(openKeySources(sources, access), access);

async function orFail<T>(reading: Promise<T>, access: CommandUse): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof KeyFailure) throw failureOf(error, access);
    if (!(error instanceof PaylinkError) || error.code !== "file_unreadable") throw error;
    const { code, message } = error;
    throw new PaylinkError(code, message, {
      effect: access.effect,
      hints: [hint`Give a file that exists, or a URL: ${waysOut(access.effect, "<file or URL>")}`],
      cause: error,
    });
  }
}

function failureOf({ kind, message, details, cause }: KeyFailure, { effect }: CommandUse): PaylinkError {
  const code = kind === "unreachable" ? "not_reached" : "key_invalid";
  const step =
    cause instanceof SandboxNotRunning ? hint`Start it: ${paylink("sandbox")}` : nextStep(kind, effect);
  return new PaylinkError(code, message, {
    effect,
    hints: step === undefined ? undefined : [step],
    details,
    cause,
  });
}

/** Undefined if the hint of the code is enough. */
function nextStep(kind: KeyFailure["kind"], effect: CommandUse["effect"]): Hint | undefined {
  if (kind === "unreachable")
    return hint`Start the service, or give a key file: ${waysOut(effect, "<file>")}`;
  if (kind === "redirected")
    return hint`If you trust the target, set it as the key: ${paylink("config", "set", "webhookKey", "<url>")}`;
  if (kind === "forbidden")
    return hint`Download the key with your account, and give the file: ${waysOut(effect, "<file>")}`;
  return undefined;
}

/** How to give another key. `create` has no flag for it. */
const waysOut = (effect: CommandUse["effect"], value: string): Hint =>
  hint`${effect === "create" ? "" : `--key ${value}, or `}${paylink("config", "set", "webhookKey", value)}`;
