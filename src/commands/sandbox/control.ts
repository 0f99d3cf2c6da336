/** `paylink sandbox advance` and `rotate-key`: turn the controls of the sandbox that runs. */
import * as z from "zod/mini";
import { control } from "../../api/sandbox-control.ts";
import type { Context } from "../../context.ts";
import { parseDuration } from "../../domain/duration.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { safeText } from "../../render/safe-text.ts";
import { sandboxInForce } from "../../store/sandbox-in-force.ts";

const advanced = z.object({ now: z.string() });
const rotated = z.object({ keyid: z.string() });

export async function advanceClock(context: Context, duration: string): Promise<void> {
  const parsed = parseDuration(duration);
  if (!parsed.ok) throw new PaylinkError("usage", `<duration> ${parsed.message}.`);
  const text = await turn(context, "/sandbox/advance", { duration });
  show(context, text, () => `The sandbox's clock says ${safeText(advanced.parse(JSON.parse(text)).now)}.`);
}

export async function rotateKey(context: Context): Promise<void> {
  const text = await turn(context, "/sandbox/rotate-key", {});
  show(
    context,
    text,
    () => `The sandbox signs with ${safeText(rotated.parse(JSON.parse(text)).keyid)} from now on.`,
  );
}

const turn = async (
  context: Context,
  path: string,
  form: Readonly<Record<string, string>>,
): Promise<string> => control(context.send, await sandboxInForce(context), path, form);

const show = ({ out }: Context, text: string, words: () => string): void =>
  out.data(out.json ? text : words());
