/** `--timeout` of a command that posts to other programs by itself: it bounds every exchange, every wait and the whole. */
import type { Context } from "../context.ts";
import { PaylinkError } from "../domain/errors.ts";
import { type Send, SendTimeout } from "../http/exchange.ts";

/**
 * Runs a command with a context that ends with the time: its signal fires, and its exchanges and pauses are cut short. The command
 * asks the signal after each of them. `state` says what is known then, unless nothing was sent. Throws `timed_out`.
 */
export async function withinTime(
  context: Context,
  timeout: number | undefined,
  state: string,
  run: (limited: Context) => Promise<number>,
): Promise<number> {
  if (timeout === undefined) return run(context);
  const { now } = context;
  const deadline = now().getTime() + timeout;
  const timeLeft = (): number => Math.max(1, deadline - now().getTime());
  const over = new AbortController();
  let isSent = false;
  const end = (): void => {
    const message = `The time of --timeout has passed. ${isSent ? state : "Nothing was sent."}`;
    over.abort(new PaylinkError("timed_out", message));
  };
  const signal = AbortSignal.any([context.signal, over.signal]);
  const send: Send = async (request, options = {}) => {
    isSent = true;
    const left = timeLeft();
    const own = options.timeout ?? Number.POSITIVE_INFINITY;
    return context.send(request, { ...options, timeout: Math.min(own, left) }).catch((error: unknown) => {
      if (error instanceof SendTimeout && left < own) end();
      throw error;
    });
  };
  const pause = async (milliseconds: number): Promise<void> => {
    const left = timeLeft();
    await context.pause(Math.min(milliseconds, left));
    if (left < milliseconds) end();
    signal.throwIfAborted();
  };
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  ended.catch(() => undefined);
  const readFile: Context["readFile"] = (...file) => Promise.race([context.readFile(...file), ended]);
  const timer = setTimeout(end, timeout);
  try {
    return await run({ ...context, signal, send, pause, readFile });
  } catch (error) {
    // An exchange that was cut short fails as if the other side were to blame.
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
