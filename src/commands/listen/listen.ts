/** `paylink listen`: receives webhooks until it is told to stop, and shows what becomes of each. */
import type { Context } from "../../context.ts";
import { loadKeys } from "../../receiver/webhook-keys.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import { startReceiver } from "../../receiver/start.ts";
import { renderSummary } from "../../render/webhook.ts";
import { settingsInForce } from "../../store/in-force.ts";
import type { ListenFlags } from "./command.ts";
import { listenOptions } from "./options.ts";
import { createReporter } from "./reporter.ts";

export async function listen(context: Context, flags: ListenFlags): Promise<void> {
  const { out, serve, now, newId, signal, readFile, send } = context;
  const { keySources, compact, ...options } = listenOptions(flags, await settingsInForce(context));
  const warn = (warning: string): void => out.note(`${out.notePaint.yellow("!")} ${warning}`);
  const keys = await loadKeys(keySources, { readFile, send, warn });
  const reporter = createReporter(out, compact);
  const server = await startReceiver({
    ...options,
    serve,
    keys,
    log: createMemoryLog(),
    now,
    newId: () => newId().replaceAll("-", "").slice(0, ID_LENGTH),
    observe: reporter.observe,
    faulted: (error) => out.note(`${out.notePaint.red("✗")} ${String(error)}`),
  });
  const url = new URL(options.path, server.url).href;
  if (out.json) out.data(JSON.stringify({ type: "ready", url }));
  else out.data(`Listening on ${out.paint.bold(url)}`);
  if (options.unverified) warn("Signatures are not insisted on: what is marked UNVERIFIED may be forged.");
  if (options.publicAddress === undefined) {
    out.note(
      "This address is local. To be reached from outside, point a tunnel at it and give the tunnel's address as --public-url.",
    );
  }
  await stopped(signal);
  await server.close();
  const counts = reporter.counts();
  if (out.json) out.data(JSON.stringify({ type: "summary", ...counts }));
  else out.note(renderSummary(counts));
}

/** Enough of an id to be unlike every other of a long run, and short enough to be read aloud. */
const ID_LENGTH = 12;

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
