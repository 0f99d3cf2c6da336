/** `paylink sandbox advance` and `rotate-key`: control the sandbox that is running. */
import * as z from "zod/mini";
import { control } from "../../service/sandbox.ts";
import type { Context } from "../../context.ts";
import { safeText } from "../../render/safe-text.ts";
import { findSandbox } from "../../settings/resolved-settings.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseMilliseconds } from "../flag-values.ts";

export interface AdvanceOptions {
  /** As the user wrote it: the sandbox counts years by the calendar, from its own time. */
  readonly duration: string;
}

/** Throws `usage`. */
export function advanceOptions(duration: string): AdvanceOptions {
  const reader = createFlagReader();
  reader.read("<duration>", duration, parseMilliseconds);
  reader.finish("The clock was not moved.");
  return { duration };
}

const advanced = z.object({ now: z.string() });
const rotated = z.object({ keyid: z.string() });

export async function advanceClock(context: Context, { duration }: AdvanceOptions): Promise<number> {
  const { out, send, signal } = context;
  const text = await control(send, await findSandbox(context), "/sandbox/advance", { duration }, signal);
  const words = (): string => `The sandbox's clock is at ${safeText(advanced.parse(JSON.parse(text)).now)}.`;
  out.data(out.json ? text : words());
  return 0;
}

export async function rotateKey(context: Context): Promise<number> {
  const { out, send, signal } = context;
  const text = await control(send, await findSandbox(context), "/sandbox/rotate-key", {}, signal);
  const words = (): string =>
    `The sandbox signs with ${safeText(rotated.parse(JSON.parse(text)).keyid)} from now on.`;
  out.data(out.json ? text : words());
  return 0;
}
