/** Reads public keys once, from files, URLs and texts. */
import { isExposed, parseWebAddress } from "../values/addresses.ts";
import { PaylinkError, type WebhookEffect } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import { isKeyText, keyPlace } from "../signatures/key-text.ts";
import { withoutPassword } from "../values/url-passwords.ts";
import { shownPath } from "../values/secrets.ts";
import { messageOf } from "../values/system-reason.ts";
import { SandboxNotRunning, type Send } from "../http/exchange.ts";
import { addressOf, fieldLines, type HttpReply, isRedirect } from "../http/message.ts";
import { expiryWarning, keyProblem, untriedWarning } from "../signatures/key-rules.ts";
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

/** What one source holds. */
export interface LoadedSource extends LoadedKeys {
  /** What messages call it. */
  readonly name: string;
  /** The milliseconds after which it must be read again. Files and texts are read again only when asked to. */
  readonly lifetime: number;
}

/** A source that cannot be read now, or that holds no key. */
export interface FailedSource {
  readonly name: string;
  readonly error: PaylinkError;
}

export type SourceReading = LoadedSource | FailedSource;

export const isFailedSource = (reading: SourceReading): reading is FailedSource => "error" in reading;
export const isLoaded = (reading: SourceReading): reading is LoadedSource => "keys" in reading;

/** Milliseconds after which keys from a URL are read again, unless their server says otherwise within the bounds. */
const LIFETIME = { default: 600_000, least: 60_000, most: 3_600_000 };

/** The keys of every source together. What cannot be read is a warning, and is thrown if no other source has a key. */
export async function loadKeys(sources: readonly string[], io: KeyReading): Promise<LoadedKeys> {
  const readings = await readSources(sources, io);
  requireKeys(readings, io);
  const loaded = readings.filter(isLoaded);
  const keys = loaded.flatMap((source) => source.keys);
  const untried = untriedWarning(keys) ?? [];
  const missing = readings
    .filter(isFailedSource)
    .map(({ error }) => `The other keys are used. ${error.message}`);
  return {
    keys,
    warningsAt: (now) => [...loaded.flatMap(({ warningsAt }) => warningsAt(now)), ...missing].concat(untried),
  };
}

/** Throws why the sources cannot be read, unless one of them can. */
export function requireKeys(readings: readonly SourceReading[], { place, effect }: KeyReading): void {
  const failed = readings.filter(isFailedSource);
  const [first] = failed;
  if (first === undefined || failed.length < readings.length) return;
  if (failed.length === 1) throw first.error;
  throw new PaylinkError(first.error.code, "No key can be read.", {
    effect,
    problems: failed.map(({ error }) => ({ at: place, message: error.message })),
    hints: first.error.hints,
  });
}

/** Why a source can never verify a webhook, as far as can be told without reading a file or asking a server. */
export function problemOfSource(source: KeySource): string | undefined {
  const place = keyLocation(source);
  if (place === undefined) {
    const { keys, remarks } = readKeys(source);
    const problems = keys.map((key) => keyProblem(key)?.message);
    return problems.includes(undefined) ? undefined : (problems[0] ?? noKey(remarks));
  }
  const url = parseWebAddress(place);
  return url !== undefined && isExposed(url) ? notSecret(url) : undefined;
}

const noKey = (remarks: readonly string[]): string =>
  [...new Set(remarks)].join("; ") || "it contains no key";

/** What a source that is the key itself is called. */
const TEXT_NAME = "the key";

/** In their order, each as it is now. */
export const readSources = (
  sources: readonly KeySource[],
  io: KeyReading,
): Promise<readonly SourceReading[]> => Promise.all(sources.map((source) => readSource(source, io)));

export async function readSource(source: KeySource, io: KeyReading): Promise<SourceReading> {
  const place = keyLocation(source);
  const name = place === undefined ? TEXT_NAME : shownPath(withoutPassword(place));
  try {
    const { content, lifetime } = await contentOf(source, place, io);
    return { name, ...keysIn(content, name, io.effect), lifetime };
  } catch (error) {
    if (error instanceof PaylinkError && UNREADABLE.has(error.code)) return { name, error };
    throw error;
  }
}

const UNREADABLE: ReadonlySet<PaylinkError["code"]> = new Set([
  "key_invalid",
  "file_unreadable",
  "not_reached",
]);

async function contentOf(source: KeySource, place: string | undefined, io: KeyReading) {
  const lifetime = Number.POSITIVE_INFINITY;
  if (place === undefined) return { content: source, lifetime };
  const url = parseWebAddress(place);
  if (url === undefined) return { content: await io.readFile(place, io.place), lifetime };
  const reply = await fetchKey(url, io);
  return { content: reply.body, lifetime: lifetimeOf(reply) };
}

/** The path or the URL of a source; undefined for one that is the key itself. */
export const keyLocation = (source: KeySource): string | undefined =>
  typeof source === "string" && !isKeyText(source) ? keyPlace(source) : undefined;

/** Throws `key_invalid`. */
function keysIn(bytes: KeySource, name: string, effect?: WebhookEffect): LoadedKeys {
  const { keys, remarks } = readKeys(bytes);
  if (keys.length === 0)
    throw new PaylinkError("key_invalid", `No key can be read from ${name}: ${noKey(remarks)}.`, { effect });
  const warningsAt = (now: Date): readonly string[] => {
    const seconds = Math.floor(now.getTime() / 1000);
    const expiries = keys.flatMap((key) => expiryWarning(key, seconds) ?? []);
    return [...remarks, ...expiries].map((warning) => `${name}: ${warning}`);
  };
  return { keys, warningsAt };
}

/** In milliseconds: a webhook signed by a new key waits for the fetch, and its sender must not give up first. */
const FETCH_TIMEOUT = 5_000;

/** Bytes of a key or a key set. */
export const MAX_KEY_REPLY = 1024 * 1024;

async function fetchKey(url: URL, { send, signal, effect }: KeyReading): Promise<HttpReply> {
  if (isExposed(url)) throw new PaylinkError("key_invalid", `${notSecret(url)}.`, { effect });
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
    hints: [
      hint`If you trust the target, give it as the key: --key <url>, or ${paylink`config set webhookKey <url>`}`,
    ],
  });
}

const GIVE_KEY_FILE = hint`Check the address and its server, or give a key file: --key <file>, or ${paylink`config set webhookKey <file>`}`;

/** Anyone who can change a key in transit can forge every webhook: plain http is for this machine only. */
const notSecret = (url: URL): string =>
  `${withoutPassword(url.href)} is not https: a key fetched without TLS can be replaced in transit`;

/** The `max-age` of the reply (RFC 9111 5.2.2.1), within the bounds. */
function lifetimeOf({ headers }: HttpReply): number {
  const directives = fieldLines(headers, "cache-control").join(",");
  const [, seconds] = /(?:^|[\s,])max-age=(\d+)/i.exec(directives) ?? [];
  if (seconds === undefined) return LIFETIME.default;
  return Math.min(Math.max(Number(seconds) * 1000, LIFETIME.least), LIFETIME.most);
}
