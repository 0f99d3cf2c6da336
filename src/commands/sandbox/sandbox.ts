/** `paylink sandbox`: serves the whole service on this machine, registers itself as a profile, and is controlled while it runs. */
import { once } from "node:events";
import * as z from "zod/mini";
import type { Paint } from "../../render/paint.ts";
import { stringifyJson } from "../../values/json.ts";
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
  if (!signal.aborted) await once(signal, "abort");
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
  const [document, words] = describedEvent(event, paint);
  if (json) return stringifyJson(document);
  return `${paint.dim(isTerminal ? clockTime(now) : formatLocal(now))} ${words}`;
}

/** What a line says of an event: as JSON, and for people. */
function describedEvent(event: SandboxEvent, paint: Paint): readonly [json: object, words: string] {
  const { type } = event;
  switch (type) {
    case "link": {
      const { link, url } = event;
      return [{ type, id: link.id, url }, safeText(`link      ${linkAmount(link.request) ?? ""}  ${url}`)];
    }
    case "payment": {
      const { link, record } = event;
      const outcome = paintOutcome(outcomeOf(record), paint);
      return [
        { type, linkId: link.id, record },
        `payment   ${outcome}  ${recordAmount(record)}  ${safeText(record.reference)}`,
      ];
    }
    case "updated":
    case "cancelled":
      return [{ type, id: event.link.id }, safeText(`link      ${type}  ${event.link.id}`)];
    case "dashboard":
      return [{ type, url: event.url }, `dashboard opened; for another browser: ${event.url}`];
    case "delivery": {
      const { delivery, attempt, status, detail, state } = event;
      const { id, uti } = delivery;
      const url = withoutPassword(delivery.url);
      return [
        { type, id, uti, url, attempt, status, state, detail },
        safeText(`delivery  ${state}  attempt ${attempt}: ${detail}  ${url}`),
      ];
    }
  }
}

/** Changes the running sandbox, and shows what it answered; with `--json`, as it is. */
async function controlSandbox<Answer>(
  context: Context,
  action: string,
  form: URLSearchParams,
  schema: { parse(answer: unknown): Answer },
  words: (answer: Answer) => string,
): Promise<number> {
  const { out, send, signal } = context;
  const text = await control(send, await findSandbox(context), `/sandbox/${action}`, form, signal);
  out.data(out.json ? text : safeLines(words(schema.parse(JSON.parse(text)))));
  return 0;
}

const advanced = z.object({ now: z.string() });
const rotated = z.object({ keyid: z.string() });
const faultsSet = z.object({
  faults: z.array(z.object({ operation: z.string(), fault: z.string(), count: z.nullable(z.number()) })),
});

export const advanceClock = (context: Context, { when }: { readonly when: string }): Promise<number> =>
  controlSandbox(
    context,
    "advance",
    new URLSearchParams({ when }),
    advanced,
    ({ now }) => `The sandbox's clock is at ${localTime(now)}.`,
  );

export const rotateKey = (context: Context): Promise<number> =>
  controlSandbox(
    context,
    "rotate-key",
    new URLSearchParams(),
    rotated,
    ({ keyid }) => `The sandbox signs with ${keyid} from now on.`,
  );

/** What is set after the change. Each fault replaces the one of its operation. */
export function setFaults(
  context: Context,
  { faults, clear }: { readonly faults: readonly ApiFault[]; readonly clear: boolean },
): Promise<number> {
  const form = new URLSearchParams(clear ? { clear: "" } : {});
  for (const { operation, words, count } of faults)
    form.append("fault", `${operation}=${words}${count === null ? "" : `:${count}`}`);
  return controlSandbox(context, "fail", form, faultsSet, (answer) => {
    const lines = answer.faults.map(({ operation, fault, count }) => {
      const times = count === null ? "every time" : count === 1 ? "once more" : `${count} times more`;
      return `${operation}=${fault}  applies ${times}`;
    });
    return lines.length === 0 ? "No fault is set: the API works as the service does." : lines.join("\n");
  });
}

export const resetSandbox = (context: Context): Promise<number> =>
  controlSandbox(
    context,
    "reset",
    new URLSearchParams(),
    z.object({}),
    () => "Deleted the sandbox's links, payments, deliveries, requests and faults.",
  );
