/** Reads public keys from files, URLs and texts, and renews them while they are in use. */
import { isExposed, parseWebAddress, withoutPassword } from "../domain/addresses.ts";
import { hint, paylink, PaylinkError, type CommandLine, type Hint } from "../domain/errors.ts";
import { messageOf } from "../domain/system-reason.ts";
import { isKeyText } from "../domain/key-source.ts";
import { SandboxNotRunning, type Send } from "../http/exchange.ts";
import { addressOf, fieldLines, type HttpReply } from "../http/message.ts";
import { expiryWarning } from "../signatures/key-rules.ts";
import { readKeys, type VerificationKey } from "../signatures/keys.ts";

/** A file, a URL, the text of a key, or its bytes. */
export type KeySource = string | Uint8Array;

export interface KeyAccess {
  readonly readFile: (path: string, place: string) => Promise<Uint8Array>;
  readonly send: Send;
  /** Where the sources are named: a flag or a setting. */
  readonly place: string;
  readonly now: () => Date;
  /** Ends the reading of keys. */
  readonly signal?: AbortSignal | undefined;
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

/** The keys of every source together. Throws a KeyFailure, or what `readFile` throws. */
export async function readKeySources(
  sources: readonly KeySource[],
  io: KeyAccess,
): Promise<VerificationKey[]> {
  const keys: VerificationKey[] = [];
  for (const source of sources) keys.push(...(await loadKey(source, io)));
  return keys;
}

/** Milliseconds between two renewals, so that forged webhooks cannot flood the key's server with requests. */
const RENEWAL_PAUSE = 60_000;

export interface Keyring {
  /** The keys in use now. */
  readonly keys: () => readonly VerificationKey[];
  /** Reads every source again. Warns and resolves with false if one could not be read. */
  readonly reload: () => Promise<boolean>;
  /** Reloads the keys. Resolves with false, without reloading, if the last renewal was within a minute. */
  readonly renew: () => Promise<boolean>;
}

/** Keys that can be renewed while in use. If a source can no longer be read, its last keys stay in use. */
export async function openKeySources(sources: readonly KeySource[], io: KeyAccess): Promise<Keyring> {
  const loaded = new Map<KeySource, readonly VerificationKey[]>();
  for (const source of sources) loaded.set(source, await readKeySources([source], io));
  let keys = [...loaded.values()].flat();
  const reload = async (): Promise<boolean> => {
    let isComplete = true;
    for (const source of loaded.keys()) {
      try {
        loaded.set(source, await readKeySources([source], { ...io, signal: undefined }));
      } catch (error) {
        isComplete = false;
        io.warn(`The keys read before stay in use. ${messageOf(error)}`);
      }
    }
    keys = [...loaded.values()].flat();
    return isComplete;
  };
  let renewal: Promise<boolean> | undefined;
  // Opening does not count as a renewal, so that the next webhook finds a key that changes within the first minute.
  let renewedAt = Number.NEGATIVE_INFINITY;
  const renew = async (): Promise<boolean> => {
    if (renewal === undefined) {
      if (io.now().getTime() - renewedAt < RENEWAL_PAUSE) return false;
      renewedAt = io.now().getTime();
      renewal = reload().finally(() => (renewal = undefined));
    }
    await renewal;
    return true;
  };
  return { keys: () => keys, reload, renew };
}

async function loadKey(source: KeySource, io: KeyAccess): Promise<VerificationKey[]> {
  const read = readKeys(await bytesOf(source, io));
  const name = typeof source !== "string" || isKeyText(source) ? "the key" : withoutPassword(source);
  if (!read.ok) throw new KeyFailure("unreadable", `No key can be read from ${name}: ${read.reason}.`);
  const now = Math.floor(io.now().getTime() / 1000);
  const expiries = read.keys.flatMap((key) => expiryWarning(key, now) ?? []);
  for (const warning of [...read.warnings, ...expiries]) io.warn(`${name}: ${warning}`);
  return read.keys;
}

async function bytesOf(source: KeySource, io: KeyAccess): Promise<Uint8Array> {
  if (typeof source !== "string") return source;
  const { readFile, send, signal, place } = io;
  if (isKeyText(source)) return new TextEncoder().encode(source);
  const url = parseWebAddress(source);
  return url === undefined ? readFile(source, place) : fetchKey(url, send, signal);
}

/** In milliseconds: a webhook signed by a new key waits for the fetch, and its sender must not give up first. */
const FETCH_TIMEOUT = 5_000;

/** Bytes of a key or a key set. */
const MAX_KEY_REPLY = 1024 * 1024;

/** Anyone who can change a key in transit can forge every webhook: plain http is for this machine only. */
async function fetchKey(url: URL, send: Send, signal: AbortSignal | undefined): Promise<Uint8Array> {
  if (isExposed(url))
    throw new KeyFailure(
      "exposed",
      `${withoutPassword(url.href)} is not https: a key fetched without TLS can be replaced in transit.`,
    );
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
  if (reply.status === 200) return reply.body;
  throw refusedFetch(url, reply);
}

const notFetched = (url: URL, reason: string, cause?: unknown): KeyFailure =>
  new KeyFailure("unreachable", `The key at ${withoutPassword(url.href)} cannot be fetched: ${reason}.`, {
    cause,
  });

/** Redirects are not followed, and the account's token is not sent: the target or the server may belong to someone else. */
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
      `The key's address ${withoutPassword(url.href)} answered ${status}: it requires a token, and paylink fetches keys without one.`,
      { details: { status } },
    );
  return notFetched(url, `it answered ${status}`);
}

interface CommandAccess extends KeyAccess {
  /** What the command does with a key. */
  readonly effect: "receive" | "create" | "verify";
}

/** The keys of every source together. Throws `key_invalid`, `file_unreadable`, `not_reached`. */
export const loadKeys = (sources: readonly string[], access: CommandAccess): Promise<VerificationKey[]> =>
  orFail(readKeySources(sources, access), access);

/** Keys that can be renewed while in use. Throws as `loadKeys` does. */
export const openKeyring = (sources: readonly string[], access: CommandAccess): Promise<Keyring> =>
  orFail(openKeySources(sources, access), access);

async function orFail<T>(reading: Promise<T>, access: CommandAccess): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw error instanceof KeyFailure ? failureOf(error, access) : error;
  }
}

function failureOf({ kind, message, details, cause }: KeyFailure, { effect }: CommandAccess): PaylinkError {
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
function nextStep(kind: KeyFailure["kind"], effect: CommandAccess["effect"]): Hint | undefined {
  const set = (value: string): CommandLine => paylink("config", "set", "webhookKey", value);
  // `create` has no flag for a key.
  const flag = effect === "create" ? "" : "--key <file>, or ";
  if (kind === "unreachable") return hint`Start the service, or give a key file: ${flag}${set("<file>")}`;
  if (kind === "redirected") return hint`If you trust the target, set it as the key: ${set("<url>")}`;
  if (kind === "forbidden")
    return hint`Download the key with your account, and give the file: ${flag}${set("<file>")}`;
  return undefined;
}
