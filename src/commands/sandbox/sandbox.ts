/** `paylink sandbox`: serves the whole service on this machine, registers itself as a profile, and is controlled while it runs. */
import * as z from "zod/mini";
import type { Paint } from "../../render/paint.ts";
import { stringifyJson, type JsonObject } from "../../values/json.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import type { ApiFault } from "../../sandbox/api-faults.ts";
import { recordAmount, paintOutcome } from "../../render/transaction-record.ts";
import { SCHEDULE, type SandboxEvent, type SandboxSetup } from "../../sandbox/setup.ts";
import { control, findSandbox } from "../../service/sandbox.ts";
import { safeLines, safeText } from "../../render/safe-text.ts";
import type { Context } from "../../context.ts";
import { hostnameOf, isExposed, isLoopback, localAddress } from "../../values/addresses.ts";
import { LISTENER_PORT, LISTENER_URL, SANDBOX_PROFILE } from "../../domain/known-services.ts";
import { withoutPassword } from "../../values/url-passwords.ts";
import { clockTime, formatLocal, localTime, wrap } from "../../render/layout.ts";
import { linkAmount } from "../../render/link.ts";
import { createClock } from "../../sandbox/clock.ts";
import { createSigningKeys } from "../../sandbox/signing-keys.ts";
import { startSandbox, type RunningSandbox } from "../../sandbox/server.ts";
import { SERVICE_COVER } from "../../signatures/cover.ts";
import type { ValuesOf } from "../command.ts";
import type { sandboxFlags } from "./command.ts";

type SandboxFlags = ValuesOf<typeof sandboxFlags>;

export const sandboxOptions = ({
  cover,
  created,
  retry,
  deliver,
  host,
  allowHost,
  plainHost,
  ...flags
}: SandboxFlags) => ({
  ...flags,
  host,
  ...dashboardOptions(host, plainHost),
  /** Milliseconds between the attempts of a delivery. */
  schedule: retry ?? SCHEDULE,
  fault: deliver,
  /** How webhooks are signed. */
  form: { cover: cover ?? SERVICE_COVER, created },
  /** As `URL.hostname` spells them. The address that it is bound to is in the profile that it registers. */
  allowedHosts: isLoopback(hostnameOf(host)) ? allowHost : [...allowHost, hostnameOf(host).toLowerCase()],
});

/** A name below localhost leads to no other address of this machine. */
function dashboardOptions(host: string, plainHost: boolean): Pick<SandboxSetup, "apiHost" | "plainHost"> {
  const { hostname: apiHost } = new URL(localAddress(`http://${hostnameOf(host)}/`));
  return { apiHost, plainHost: plainHost || !isLoopback(apiHost) };
}

export async function sandbox(context: Context, flags: SandboxFlags): Promise<number> {
  const options = sandboxOptions(flags);
  const { out, newId, now, send, serve, signal } = context;
  out.streamWarnings();
  const home = await context.sandbox();
  const ledger = home.ledger(options.db, options.reset);
  const clock = createClock(now, options.clock, ledger.clockAhead());
  const keys = createSigningKeys(home.identity, home.renewKey, () => clock.now());
  const running = await startSandbox({
    ...options,
    merchant: home.identity,
    keys,
    ledger,
    clock,
    newId,
    send,
    serve,
    machineNow: now,
    observe: (event) => out.lines([renderSandboxEvent(event, clock.now(), out)]),
    faulted: (error) => out.warn(String(error)),
  });
  context.later(running.close);
  // paylink sends no token there, so a profile with this address would be of no use.
  if (!isExposed(new URL(running.baseUrl))) await home.register(running.baseUrl, LISTENER_URL);
  announceSandbox(running, options.clock, context);
  await interruption(signal);
  return 0;
}

function announceSandbox(
  { url, baseUrl, dashboardUrl }: RunningSandbox,
  stoppedAt: Date | undefined,
  { out }: Context,
): void {
  if (out.json)
    out.lines([
      JSON.stringify({ type: "ready", url }),
      JSON.stringify({ type: "dashboard", url: dashboardUrl }),
    ]);
  else out.lines([`Sandbox on ${out.paint.bold(url)}`, `Dashboard  ${dashboardUrl}`]);
  if (stoppedAt !== undefined)
    out.note(`The clock is stopped at ${formatLocal(stoppedAt)}. To move it: paylink sandbox advance 1h`);
  if (isExposed(new URL(baseUrl))) {
    out.warn(
      `The profile ${SANDBOX_PROFILE} was not changed: paylink sends a token over plain http to this machine only. To use this sandbox with paylink too: --host 0.0.0.0`,
    );
    return;
  }
  const next = `No money moves. The profile ${SANDBOX_PROFILE} points here; in another terminal:`;
  out.note(wrap(next, out.lineWidth));
  // Named even if it is current: the user may copy these lines after choosing another profile.
  out.note(`  paylink listen --port ${LISTENER_PORT} -p ${SANDBOX_PROFILE}`);
  out.note(`  paylink create --amount 10 --currency EUR -p ${SANDBOX_PROFILE}`);
}

interface SandboxStyle {
  readonly json: boolean;
  readonly isTerminal: boolean;
  readonly paint: Paint;
}

/** One line for each link, payment and delivery. */
export function renderSandboxEvent(
  event: SandboxEvent,
  now: Date,
  { json, isTerminal, paint }: SandboxStyle,
): string {
  if (json) return stringifyJson(sandboxEventDocument(event));
  return `${paint.dim(isTerminal ? clockTime(now) : formatLocal(now))} ${sandboxEventText(event, paint)}`;
}

function sandboxEventText(event: SandboxEvent, paint: Paint): string {
  switch (event.type) {
    case "link":
      return `link      ${safeText(linkAmount(event.link.request) ?? "")}  ${safeText(event.url)}`;
    case "payment":
      return `payment   ${paintOutcome(outcomeOf(event.record), paint)}  ${recordAmount(event.record)}  ${safeText(event.record.reference)}`;
    case "updated":
    case "cancelled":
      return `link      ${event.type}  ${safeText(event.link.id)}`;
    case "dashboard":
      return `dashboard opened; for another browser: ${event.url}`;
    case "delivery":
      return `delivery  ${event.state}  attempt ${event.attempt}: ${safeText(event.detail)}  ${safeText(withoutPassword(event.delivery.url))}`;
  }
}

function sandboxEventDocument(event: SandboxEvent): Record<string, unknown> {
  switch (event.type) {
    case "link":
      return { type: "link", id: event.link.id, url: event.url };
    case "payment": {
      const record: JsonObject = event.record;
      return { type: "payment", linkId: event.link.id, record };
    }
    case "updated":
    case "cancelled":
      return { type: event.type, id: event.link.id };
    case "dashboard":
      return { type: event.type, url: event.url };
    case "delivery": {
      const { delivery, attempt, status, detail, state } = event;
      const { id, uti, url } = delivery;
      return { type: "delivery", id, uti, url: withoutPassword(url), attempt, status, state, detail };
    }
  }
}

const interruption = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const advanced = z.object({ now: z.string() });
const rotated = z.object({ keyid: z.string() });

export async function advanceClock(context: Context, { when }: { readonly when: string }): Promise<number> {
  const { out, send, signal } = context;
  const text = await control(
    send,
    await findSandbox(context),
    "/sandbox/advance",
    new URLSearchParams({ when }),
    signal,
  );
  const words = (): string =>
    `The sandbox's clock is at ${localTime(safeText(advanced.parse(JSON.parse(text)).now))}.`;
  out.data(out.json ? text : words());
  return 0;
}

export async function rotateKey(context: Context): Promise<number> {
  const { out, send, signal } = context;
  const text = await control(
    send,
    await findSandbox(context),
    "/sandbox/rotate-key",
    new URLSearchParams(),
    signal,
  );
  const words = (): string =>
    `The sandbox signs with ${safeText(rotated.parse(JSON.parse(text)).keyid)} from now on.`;
  out.data(out.json ? text : words());
  return 0;
}

const faultsSet = z.object({
  faults: z.array(z.object({ operation: z.string(), fault: z.string(), count: z.nullable(z.number()) })),
});

/** What is set after the change. Each fault replaces the one of its operation. */
export async function setFaults(
  context: Context,
  { faults, clear }: { readonly faults: readonly ApiFault[]; readonly clear: boolean },
): Promise<number> {
  const { out, send, signal } = context;
  const form = new URLSearchParams(clear ? { clear: "" } : {});
  for (const { operation, words, count } of faults)
    form.append("fault", `${operation}=${words}${count === null ? "" : `:${count}`}`);
  const text = await control(send, await findSandbox(context), "/sandbox/fail", form, signal);
  const sentences = (): string => {
    const lines = faultsSet.parse(JSON.parse(text)).faults.map(({ operation, fault, count }) => {
      const times = count === null ? "every time" : count === 1 ? "once more" : `${count} times more`;
      return `${operation}=${fault}  applies ${times}`;
    });
    return lines.length === 0 ? "No fault is set: the API works as the service does." : lines.join("\n");
  };
  out.data(out.json ? text : safeLines(sentences()));
  return 0;
}

export async function resetSandbox(context: Context): Promise<number> {
  const { out, send, signal } = context;
  const text = await control(
    send,
    await findSandbox(context),
    "/sandbox/reset",
    new URLSearchParams(),
    signal,
  );
  out.data(out.json ? text : "Deleted the sandbox's links, payments, deliveries, requests and faults.");
  return 0;
}
