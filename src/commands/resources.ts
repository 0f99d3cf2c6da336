/** Closes what a command has opened, the last first, however the command ends. */

/** Has `close` run when the work has ended. */
export type Later = (close: () => unknown) => void;

/** Each `close` is awaited before the next one, and also runs if another one fails. */
export async function closingLater<T>(work: (later: Later) => Promise<T>): Promise<T> {
  const closes: (() => unknown)[] = [];
  try {
    return await work((close) => void closes.push(close));
  } finally {
    await closeAll(closes);
  }
}

async function closeAll(closes: (() => unknown)[]): Promise<void> {
  const close = closes.pop();
  if (close === undefined) return;
  try {
    await close();
  } finally {
    await closeAll(closes);
  }
}
