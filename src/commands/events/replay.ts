/** `paylink events replay`: sends events to the application again, with the bytes and headers they came with. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { isTaken } from "../../receiver/events.ts";
import { forward } from "../../receiver/forward.ts";
import { parseTarget } from "../../receiver/forward-target.ts";
import { renderForward } from "../../render/received-webhook.ts";
import type { KeptEvent } from "../../store/event-archive.ts";
import type { EventStore } from "../../store/events.ts";
import { findOne } from "../../store/find-event.ts";
import { readFilter, withEvents } from "./archive.ts";
import type { ReplayFlags } from "./command.ts";

export async function replay(context: Context, utis: readonly string[], flags: ReplayFlags): Promise<void> {
  const { out, now, send, signal } = context;
  const url = readTarget(utis, flags);
  const filter = readFilter(flags, now());
  await withEvents(context, flags, async (store) => {
    let [sent, failed] = [0, 0];
    for (const event of chosen(store, utis, () => store.events(filter))) {
      signal.throwIfAborted();
      const way = { send, now, headers: [], insecure: flags.insecure ?? false };
      const result = await forward(event.request, url, way);
      await store.forwarded(event.id, result);
      sent += 1;
      if (!isTaken(result.status)) failed += 1;
      const { target, status, ms, detail } = result;
      const line = { type: "forward", id: event.id, uti: event.uti, target, status, ms, detail };
      out.data(out.json ? JSON.stringify(line) : renderForward(event.uti || event.id, result, out.paint));
    }
    if (failed > 0)
      throw new PaylinkError("not_taken", `${failed} of ${sent} events were not taken by ${url.href}.`);
    out.note(`${sent} replayed to ${url.href}`);
  });
}

function readTarget(utis: readonly string[], { all = false, to }: ReplayFlags): URL {
  const problems = [];
  if (utis.length === 0 && !all) problems.push({ at: "<uti...>", message: "must be given, or --all" });
  if (utis.length > 0 && all) problems.push({ at: "--all", message: "cannot be used with single events" });
  const target = to === undefined ? undefined : parseTarget(to);
  if (target === undefined) problems.push({ at: "--to", message: "must say where to, such as 3000" });
  else if (!target.ok) problems.push({ at: "--to", message: target.message });
  if (problems.length > 0 || target?.ok !== true)
    throw new PaylinkError("usage", "Nothing was replayed.", { problems });
  return target.value;
}

/** All are found before the first is sent. */
function chosen(
  store: EventStore,
  utis: readonly string[],
  all: () => Iterable<KeptEvent>,
): Iterable<KeptEvent> {
  if (utis.length === 0) return all();
  return utis.map((uti) => {
    const found = findOne(store, uti);
    if (found.type === "event") return found;
    throw new PaylinkError("usage", `${uti} was rejected: what did not verify is never passed on.`);
  });
}
