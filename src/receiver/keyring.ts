/** The keys of a run: read from their sources when it starts, and again while they are in use. */
import { PaylinkError } from "../domain/errors.ts";
import { messageOf } from "../domain/system-reason.ts";
import { keyProblem } from "../signatures/key-rules.ts";
import type { VerificationKey } from "../signatures/keys.ts";
import type { RunKeys } from "../events/event.ts";
import { type KeyReading, type KeySource, type LoadedSource, readSource } from "./key-sources.ts";

export interface KeyAccess extends KeyReading {
  readonly now: () => Date;
  /** Called with each problem of a key that is still used. */
  readonly warn: (warning: string) => void;
}

export interface Keyring {
  /** The keys in use now, after those of a URL whose time has passed were read again. */
  readonly keys: () => Promise<readonly VerificationKey[]>;
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
  const kept: KeptSource[] = [];
  for (const source of sources) kept.push(new KeptSource(source, io, await readSource(source, io)));
  requireUsable(keptKeys(kept), io.effect);
  return new RenewedKeyring(kept, io.now, earlier);
}

const keptKeys = (sources: readonly KeptSource[]): readonly VerificationKey[] =>
  sources.flatMap(({ keys }) => keys);

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

/**
 * Milliseconds between two renewals for keys that are not known: six a minute, so that forged webhooks cannot flood the
 * key's server, and a new key is found within seconds even while they try.
 */
const RENEWAL_PAUSE = 10_000;

class RenewedKeyring implements Keyring {
  readonly #sources: readonly KeptSource[];
  readonly #time: () => number;
  #inUse: readonly VerificationKey[] = [];
  #thumbprints: RunKeys;
  #renewal: Promise<void> | undefined;
  /** Opening does not count, so that the next webhook finds a key that changes within the first seconds. */
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(sources: readonly KeptSource[], now: () => Date, earlier: RunKeys) {
    this.#sources = sources;
    this.#time = () => now().getTime();
    this.#thumbprints = earlier;
    this.#use();
  }

  readonly read = (): RunKeys => this.#thumbprints;

  readonly keys = async (): Promise<readonly VerificationKey[]> => {
    const now = this.#time();
    const due = this.#sources.filter((source) => source.isDue(now));
    if (due.length === 0) return this.#inUse;
    const reading = this.#readAgain(due);
    // Where the last attempt failed, nobody waits for the next one.
    if (!due.every(({ hasFailed }) => hasFailed)) await reading;
    return this.#inUse;
  };

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
  }
}

/** Milliseconds after a failure until a URL is read again, if nothing asks for it before. */
const RETRY_PAUSE = 60_000;

/** What was read of a source last, and when it is read again, in milliseconds. */
interface SourceState {
  readonly keys: readonly VerificationKey[];
  /** What was said of the keys: said once, however often they are read. */
  readonly warnings: readonly string[];
  readonly readAt: number;
  readonly dueAt: number;
  /** Why the keys could not be read again, as it was said. */
  readonly failure?: string;
}

/** A source while it is in use. */
class KeptSource {
  readonly #source: KeySource;
  readonly #io: KeyAccess;
  #state: SourceState;
  #reading: Promise<void> | undefined;

  constructor(source: KeySource, io: KeyAccess, loaded: LoadedSource) {
    this.#source = source;
    // A run that was interrupted still judges what it has received: later readings do not end with the signal.
    this.#io = { ...io, signal: undefined };
    this.#state = this.#replacedBy(loaded, []);
  }

  get keys(): readonly VerificationKey[] {
    return this.#state.keys;
  }

  get hasFailed(): boolean {
    return this.#state.failure !== undefined;
  }

  /** A clock that was set back must not make keys live longer. */
  isDue(now: number): boolean {
    return now >= this.#state.dueAt || now < this.#state.readAt;
  }

  /** Those who ask while it is being read wait for the same reading. Never rejects. */
  readAgain(): Promise<void> {
    this.#reading ??= readSource(this.#source, this.#io)
      .then((loaded) => this.#replacedBy(loaded, this.#state.warnings))
      .catch((error: unknown) => this.#keptInSpiteOf(error))
      .then((state) => void (this.#state = state))
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  #replacedBy({ keys, warningsAt, lifetime }: LoadedSource, said: readonly string[]): SourceState {
    const now = this.#io.now();
    const warnings = warningsAt(now);
    for (const warning of warnings) if (!said.includes(warning)) this.#io.warn(warning);
    return { keys, warnings, readAt: now.getTime(), dueAt: now.getTime() + lifetime };
  }

  #keptInSpiteOf(error: unknown): SourceState {
    const failure = `The keys read before stay in use. ${messageOf(error)}`;
    if (failure !== this.#state.failure) this.#io.warn(failure);
    return { ...this.#state, failure, dueAt: this.#io.now().getTime() + RETRY_PAUSE };
  }
}
