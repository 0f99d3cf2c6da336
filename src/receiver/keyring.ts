/** The keys of a run: read from their sources when it starts, and again while they are in use. */
import { wordFor } from "../values/plural.ts";
import { PaylinkError } from "../domain/errors.ts";
import { messageOf } from "../values/system-reason.ts";
import { keyProblem, untriedWarning } from "../signatures/key-rules.ts";
import type { VerificationKey } from "../signatures/keys.ts";
import type { RunKeys } from "../events/event.ts";
import type { RenewalOptions } from "./judge.ts";
import {
  isFailedSource,
  isLoaded,
  type KeyReading,
  type KeySource,
  readSource,
  readSources,
  requireKeys,
  type SourceReading,
} from "./key-sources.ts";

export interface KeyAccess extends KeyReading {
  readonly now: () => Date;
  /** Called with each problem of a key that is still used. */
  readonly warn: (warning: string) => void;
}

/** What is told of a source while it is in use. */
export interface SourceState {
  readonly name: string;
  /** Whether it could be read when it was read last. */
  readonly isUp: boolean;
}

/**
 * Keys that are read again while in use: those of a URL when their time has passed, all of them for a key that may be new. A key that
 * has gone from its source is not used any more. A source that cannot be read keeps its last keys; without any, it
 * has none as long as another source has a key. `earlier` keys verify nothing. Throws `key_invalid`, `file_unreadable`, `not_reached`.
 */
export async function openKeyring(
  sources: readonly KeySource[],
  io: KeyAccess,
  earlier: RunKeys = [],
): Promise<Keyring> {
  const readings = await readSources(sources, io);
  requireKeys(readings, io);
  const keys = readings.filter(isLoaded).flatMap((source) => source.keys);
  requireUsable(keys, readings.find(isFailedSource)?.error, io.effect);
  const kept = sources.flatMap((source, at) => {
    const reading = readings[at];
    return reading === undefined ? [] : [new KeptSource(source, io, reading)];
  });
  return new Keyring(kept, io, earlier);
}

const keptKeys = (sources: readonly KeptSource[]): readonly VerificationKey[] =>
  sources.flatMap(({ keys }) => keys);

/** What a judge needs of a keyring. */
export const judgingKeys = ({
  keys,
  renew,
  sources,
}: Keyring): Pick<RenewalOptions, "keys" | "renewKeys" | "lacksKeys"> => ({
  keys,
  renewKeys: renew,
  lacksKeys: () => sources().some(({ isUp }) => !isUp),
});

/** Where no key can ever verify a webhook, nothing starts. Throws `key_invalid`. */
function requireUsable(
  keys: readonly VerificationKey[],
  unread: PaylinkError | undefined,
  effect: KeyReading["effect"],
): void {
  const problems = keys.map((key) => keyProblem(key));
  const [first] = problems;
  if (first === undefined || problems.includes(undefined)) return;
  if (unread !== undefined) throw unread;
  const which = wordFor(keys.length, "The key cannot", `None of the ${keys.length} keys can`);
  throw new PaylinkError("key_invalid", `${which} verify webhooks: ${first.message} (${first.reason}).`, {
    effect,
    details: { reason: first.reason },
  });
}

/** The keys of a run: these, and those that it had before. */
export const thumbprintsOf = (keys: readonly VerificationKey[], before: RunKeys = []): RunKeys => [
  ...new Set([...before, ...keys.map(({ thumbprint }) => thumbprint)]),
];

/**
 * Milliseconds between two renewals for keys that are not known: six a minute, so that forged webhooks cannot flood the
 * key's server, and a new key is found within seconds even while they try.
 */
const RENEWAL_PAUSE = 10_000;

export class Keyring {
  readonly #sources: readonly KeptSource[];
  readonly #time: () => number;
  readonly #warn: KeyAccess["warn"];
  #untried: string | undefined;
  #inUse: readonly VerificationKey[] = [];
  #thumbprints: RunKeys;
  #renewal: Promise<void> | undefined;
  /** Opening does not count, so that the next webhook finds a key that changes within the first seconds. */
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(sources: readonly KeptSource[], { now, warn }: KeyAccess, earlier: RunKeys) {
    this.#sources = sources;
    this.#time = () => now().getTime();
    this.#warn = warn;
    this.#thumbprints = earlier;
    this.#use();
  }

  /** Every key of this run: read so far, also one that has gone from its source since, or named by its thumbprint. */
  readonly read = (): RunKeys => this.#thumbprints;

  readonly sources = (): readonly SourceState[] =>
    this.#sources.map(({ name, hasFailed }) => ({ name, isUp: !hasFailed }));

  /** The keys in use now, after those of a URL whose time has passed were read again. */
  readonly keys = async (): Promise<readonly VerificationKey[]> => {
    const now = this.#time();
    const due = this.#sources.filter((source) => source.isDue(now));
    if (due.length === 0) return this.#inUse;
    const reading = this.#readAgain(due);
    // Where the last attempt failed, nobody waits for the next one.
    if (!due.every(({ hasFailed }) => hasFailed)) await reading;
    return this.#inUse;
  };

  /** Reads every source again. Resolves with false, without reading, if the last renewal was a moment ago. */
  readonly renew = async (): Promise<boolean> => {
    if (this.#renewal === undefined) {
      if (Math.abs(this.#time() - this.#renewedAt) < RENEWAL_PAUSE) return false;
      this.#renewedAt = this.#time();
      this.#renewal = this.#readAgain(this.#sources).finally(() => (this.#renewal = undefined));
    }
    await this.#renewal;
    return true;
  };

  async #readAgain(sources: readonly KeptSource[]): Promise<void> {
    await Promise.all(sources.map((source) => source.readAgain()));
    this.#use();
  }

  /** Uses what the sources have now. */
  #use(): void {
    this.#inUse = keptKeys(this.#sources);
    this.#thumbprints = thumbprintsOf(this.#inUse, this.#thumbprints);
    const untried = untriedWarning(this.#inUse);
    if (untried !== undefined && untried !== this.#untried) this.#warn(untried);
    this.#untried = untried;
  }
}

/** Milliseconds after a failure until a URL is read again, if nothing asks for it before. */
const RETRY_PAUSE = 60_000;

/** What was read of a source last, and when it is read again, in milliseconds. */
interface LastReading {
  readonly keys: readonly VerificationKey[];
  /** What was said of the keys: said once, however often they are read. */
  readonly warnings: readonly string[];
  readonly readAt: number;
  readonly dueAt: number;
  /** Why it could not be read, as it was said. */
  readonly failure?: string;
}

const NO_KEYS_READ: LastReading = { keys: [], warnings: [], readAt: Number.NEGATIVE_INFINITY, dueAt: 0 };

/** A source while it is in use. */
class KeptSource {
  readonly #source: KeySource;
  readonly #io: KeyAccess;
  readonly name: string;
  #last: LastReading;
  #reading: Promise<void> | undefined;

  constructor(source: KeySource, io: KeyAccess, reading: SourceReading) {
    this.#source = source;
    // A run that was interrupted still judges what it has received: later readings do not end with the signal.
    this.#io = { ...io, signal: undefined };
    this.name = reading.name;
    this.#last = this.#after(reading, NO_KEYS_READ);
  }

  get keys(): readonly VerificationKey[] {
    return this.#last.keys;
  }

  get hasFailed(): boolean {
    return this.#last.failure !== undefined;
  }

  /** A clock that was set back must not make keys live longer. */
  isDue(now: number): boolean {
    return now >= this.#last.dueAt || now < this.#last.readAt;
  }

  /** Those who ask while it is being read wait for the same reading. Never rejects. */
  readAgain(): Promise<void> {
    this.#reading ??= readSource(this.#source, this.#io)
      .catch((error: unknown) => ({
        name: this.name,
        error: new PaylinkError("not_reached", messageOf(error), { cause: error }),
      }))
      .then((reading) => void (this.#last = this.#after(reading, this.#last)))
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  #after(reading: SourceReading, last: LastReading): LastReading {
    const { warn, now } = this.#io;
    const time = now();
    if (isFailedSource(reading)) {
      const failure = `${last.keys.length > 0 ? "The keys read before stay in use" : "The other keys are used"}. What none of them verifies is answered with 503, so that the service sends it again. ${reading.error.message}`;
      if (failure !== last.failure) warn(failure);
      return { ...last, failure, dueAt: time.getTime() + RETRY_PAUSE };
    }
    const { keys, warningsAt, lifetime } = reading;
    const warnings = warningsAt(time);
    for (const warning of warnings) if (!last.warnings.includes(warning)) warn(warning);
    return { keys, warnings, readAt: time.getTime(), dueAt: time.getTime() + lifetime };
  }
}
