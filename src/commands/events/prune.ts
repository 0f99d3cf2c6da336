/** `paylink events prune`: forgets what was received before a moment. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { parseWhen } from "../../domain/when.ts";
import { formatLocal } from "../../render/time.ts";
import { withEvents } from "./archive.ts";
import type { PruneFlags } from "./command.ts";

export async function prune(context: Context, flags: PruneFlags): Promise<void> {
  const { out, now } = context;
  const before = parseWhen(flags.before, now(), -1);
  if (!before.ok)
    throw new PaylinkError("usage", "No event was deleted.", {
      problems: [{ at: "--before", message: before.message }],
    });
  const { events, rejections } = await withEvents(context, flags, (store) => store.prune(before.value));
  if (out.json) out.data(JSON.stringify({ before: before.value, events, rejections }));
  else
    out.data(
      `${events} events and ${rejections} rejections from before ${formatLocal(before.value)} forgotten`,
    );
}
