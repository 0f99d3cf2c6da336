/** Lets only a few large bodies be read at a time, so that small requests are answered meanwhile. */

/** Large bodies that are read at the same time. */
const TURNS = 4;
/** Milliseconds until a body gives its turn to a waiting one: a slow sender must not block others. */
const TURN_TIME = 1_000;

/** A body that can stop and continue. A pause does not extend the time limit of its request. */
export interface PausableBody {
  /** Gets its turn before bodies that are not preferred. */
  readonly isPreferred: boolean;
  readonly pause: () => void;
  readonly resume: () => void;
}

export interface ReadingTurns {
  /** Pauses the body until its turn. */
  readonly wait: (body: PausableBody) => void;
  /** The body is complete or was refused. */
  readonly end: (body: PausableBody) => void;
}

export function createReadingTurns(): ReadingTurns {
  const waiting = new Set<PausableBody>();
  const reading = new Map<PausableBody, NodeJS.Timeout>();
  const wait = (body: PausableBody): void => {
    body.pause();
    waiting.add(body);
    giveTurns();
  };
  const end = (body: PausableBody): void => {
    waiting.delete(body);
    clearTimeout(reading.get(body));
    if (reading.delete(body)) giveTurns();
  };
  const giveTurns = (): void => {
    while (reading.size < TURNS) {
      const body = nextOf(waiting);
      if (body === undefined) return;
      waiting.delete(body);
      const passOn = setTimeout(() => {
        reading.delete(body);
        wait(body);
      }, TURN_TIME);
      reading.set(body, passOn);
      body.resume();
    }
  };
  return { wait, end };
}

function nextOf(waiting: ReadonlySet<PausableBody>): PausableBody | undefined {
  for (const body of waiting) if (body.isPreferred) return body;
  const [longest] = waiting;
  return longest;
}
