/** Limits the memory of all unanswered requests: beyond the limit, the largest unfinished one is refused. */

/** Bytes over all requests of one server. */
const MAX_HELD = 24 * 1024 * 1024;
/** Bytes of each request besides its body: Node accepts no larger header section. */
const HEAD = 16 * 1024;

/** The memory of one request, from its head to its answer. */
export interface RequestShare {
  /** The head was read. */
  readonly open: () => void;
  /** The body takes this many more bytes. */
  readonly grow: (bytes: number) => void;
  /** The body is complete: from now on, it is not refused to make room for another. */
  readonly complete: () => void;
  /** The request was answered or refused. */
  readonly release: () => void;
}

export interface RequestMemory {
  /** `refuse` is called when others need the memory. Preferred requests are refused last. */
  readonly share: (isPreferred: boolean, refuse: () => void) => RequestShare;
}

interface Unfinished {
  readonly isPreferred: boolean;
  readonly refuse: () => void;
  readonly release: () => void;
  bytes: number;
}

export function createRequestMemory(): RequestMemory {
  const unfinished = new Set<Unfinished>();
  let held = 0;
  const makeRoom = (): void => {
    if (held <= MAX_HELD) return;
    let victim: Unfinished | undefined;
    for (const request of unfinished)
      if (victim === undefined || isRefusedBefore(request, victim)) victim = request;
    if (victim === undefined) return;
    victim.release();
    victim.refuse();
    makeRoom();
  };
  return {
    share: (isPreferred, refuse) => {
      const release = (): void => {
        held -= request.bytes;
        request.bytes = 0;
        unfinished.delete(request);
      };
      const request: Unfinished = { isPreferred, refuse, release, bytes: 0 };
      const grow = (bytes: number): void => {
        request.bytes += bytes;
        held += bytes;
        makeRoom();
      };
      return {
        open: () => {
          unfinished.add(request);
          grow(HEAD);
        },
        grow,
        complete: () => void unfinished.delete(request),
        release,
      };
    },
  };
}

const isRefusedBefore = (one: Unfinished, other: Unfinished): boolean =>
  one.isPreferred === other.isPreferred ? one.bytes > other.bytes : other.isPreferred;
