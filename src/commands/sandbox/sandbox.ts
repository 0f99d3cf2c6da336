/** `paylink sandbox`: serves the whole service on this machine, and registers itself as a profile. */
import { join } from "node:path";
import type { Context } from "../../context.ts";
import { renderSandboxEvent } from "../../render/sandbox-event.ts";
import { createClock } from "../../sandbox/clock.ts";
import { createIds, seededIds } from "../../sandbox/ids.ts";
import type { Ledger } from "../../sandbox/ledger.ts";
import { createSigningKeys } from "../../sandbox/signing-keys.ts";
import { startSandbox } from "../../sandbox/start.ts";
import { openIdentity, profileOf, renewKey } from "../../store/sandbox-identity.ts";
import { openLedger } from "../../store/sandbox.ts";
import type { SandboxFlags } from "./command.ts";
import { sandboxOptions, type SandboxOptions } from "./options.ts";

/** The profile's name. */
const PROFILE = "sandbox";
/** Where `listen` listens when it is not told otherwise. */
const LISTENER = "http://127.0.0.1:4000/";

export async function sandbox(context: Context, flags: SandboxFlags): Promise<void> {
  const { out, newId, now, send, serve, signal, settings, dataFolder } = context;
  const options = sandboxOptions(flags, now());
  const folder = join(dataFolder, "sandbox");
  const identity = openIdentity(folder, newId);
  const ledger = await openOwnLedger(options, folder);
  const clock = createClock(now, options.clock);
  const running = await startSandbox({
    ...options,
    merchant: identity,
    keys: createSigningKeys(identity, () => renewKey(folder, newId, now()), now),
    ledger,
    clock,
    ids: idsOf(options, ledger, newId),
    newToken: newId,
    send,
    serve,
    machineNow: now,
    observe: (event) => out.data(renderSandboxEvent(event, clock.now(), out)),
    faulted: (error) => out.note(`${out.notePaint.red("✗")} ${String(error)}`),
  });
  const stored = await settings();
  await stored.save(PROFILE, profileOf(identity, running.baseUrl, LISTENER));
  if (out.json) out.data(JSON.stringify({ type: "ready", url: running.url }));
  else out.data(`Sandbox on ${out.paint.bold(running.url)}`);
  out.note(
    `No money moves. The dashboard is at that address. The profile ${PROFILE} points here; in another terminal:`,
  );
  out.note("  paylink listen --port 4000\n  paylink create --amount 10 --currency EUR");
  await stopped(signal);
  await running.close();
}

async function openOwnLedger({ db, reset }: SandboxOptions, folder: string): Promise<Ledger> {
  const ledger = openLedger(db ?? join(folder, "sandbox.db"));
  if (reset) ledger.reset();
  await ledger.committed();
  return ledger;
}

function idsOf({ seed }: SandboxOptions, ledger: Ledger, newId: () => string) {
  const held = ledger.counts();
  return createIds(seed === undefined ? newId : seededIds(seed, held), held.payments);
}

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
