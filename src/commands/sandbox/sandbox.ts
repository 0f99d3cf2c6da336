/** `paylink sandbox`: serves the whole service on this machine, and registers itself as a profile. */
import type { Context } from "../../context.ts";
import { LISTENER_PORT, LISTENER_URL, SANDBOX_PROFILE } from "../../domain/addresses.ts";
import { renderSandboxEvent } from "../../render/sandbox-event.ts";
import { wrap } from "../../render/wrap.ts";
import { createClock, createIds, createSigningKeys, seededIds } from "../../sandbox/parts.ts";
import type { Ledger } from "../../sandbox/ledger.ts";
import { startSandbox, type RunningSandbox } from "../../sandbox/server.ts";
import { SERVICE_COVER } from "../../check/signature-form.ts";
import type { SandboxOptions } from "./options.ts";

export async function sandbox(context: Context, options: SandboxOptions): Promise<number> {
  const { out, newId, now, send, serve, signal } = context;
  out.streamWarnings();
  const home = await context.sandbox();
  const keys = createSigningKeys(home.identity, home.renewKey, now);
  const ledger = home.ledger(options.database);
  if (options.reset) await ledger.write(() => ledger.reset());
  const clock = createClock(now, options.clock);
  const running = await startSandbox({
    ...options,
    merchant: { ...home.identity, merchantName: options.merchantName ?? home.identity.merchantName },
    keys,
    ledger,
    clock,
    ids: idsOf(options, ledger, newId),
    newToken: newId,
    send,
    serve,
    machineNow: now,
    observe: (event) => out.lines([renderSandboxEvent(event, clock.now(), out)]),
    faulted: (error) => out.warn(String(error)),
  });
  try {
    await home.register(running.baseUrl, LISTENER_URL);
    announce(running, options, context);
    await interruption(signal);
  } finally {
    await running.close();
  }
  return 0;
}

function announce(
  { url, dashboardUrl }: RunningSandbox,
  { clock, form, duplicateInvoices }: SandboxOptions,
  { out, env }: Context,
): void {
  if (out.json)
    out.lines([
      JSON.stringify({ type: "ready", url }),
      JSON.stringify({ type: "dashboard", url: dashboardUrl }),
      JSON.stringify({ type: "settings", ...form, duplicateInvoices }),
    ]);
  else out.lines([`Sandbox on ${out.paint.bold(url)}`, `Dashboard  ${dashboardUrl}`]);
  if (clock !== undefined)
    out.note(`The clock is stopped at ${clock.toISOString()}. To move it: paylink sandbox advance 1h`);
  if (form.cover !== SERVICE_COVER || !form.created)
    out.note(`Signatures cover ${form.cover.join(" ")}${form.created ? "" : ", without created"}.`);
  if (duplicateInvoices === "refuse")
    out.note("A second link with the same invoiceId at a terminal is refused.");
  const next = `No money moves. The profile ${SANDBOX_PROFILE} points here; in another terminal:`;
  out.note(wrap(next, out.lineWidth));
  // Named even if it is current: the user may copy these lines after choosing another profile.
  out.note(`  paylink listen --port ${LISTENER_PORT} -p ${SANDBOX_PROFILE}`);
  out.note(`  paylink create --amount 10 --currency EUR -p ${SANDBOX_PROFILE}`);
  if (env["PAYLINK_BASE_URL"])
    out.warn(
      "PAYLINK_BASE_URL is set and replaces the address of every profile. Unset it before you run these commands.",
    );
}

function idsOf({ seed }: SandboxOptions, ledger: Ledger, newId: () => string) {
  const counts = ledger.counts();
  return createIds(seed === undefined ? newId : seededIds(seed, counts), counts.payments);
}

const interruption = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
