/** What a forwarder needs besides its store and its application, and what it reports. */
import { onTestFinished } from "vitest";
import { SYSTEM_TIMERS } from "../../src/values/timers.ts";
import type { Send } from "../../src/http/exchange.ts";
import { deliverOver } from "../../src/receiver/attempt.ts";
import type { EventLog, Forward, NewEvent } from "../../src/events/event.ts";
import type { Forwarder, ForwarderParts } from "../../src/receiver/forwarder.ts";
import { event, KEYS } from "./stored-events.ts";

export const APP = new URL("http://127.0.0.1:3000/hook");
export const OK = { status: 200, headers: [], body: new Uint8Array() };

/** The parts, with the attempts and warnings that the forwarder reports. */
export function forwarderParts(log: Pick<EventLog, "ended">, send: Send) {
  const forwards: Forward[] = [];
  const warnings: string[] = [];
  const parts: ForwarderParts = {
    log,
    keys: () => KEYS,
    deliver: deliverOver(send),
    now: () => new Date(),
    timers: SYSTEM_TIMERS,
    headers: [],
    insecure: false,
    timeout: 2_000,
    routes: [{ outcome: undefined, url: APP }],
    observe: (_, made) => void forwards.push(made),
    warn: (text) => void warnings.push(text),
  };
  return { parts, forwards, warnings };
}

/** An attempt that hangs would keep it open. */
export function closeAtEnd(forwarder: Forwarder): void {
  onTestFinished(() => Promise.race([forwarder.close(), new Promise<void>((end) => setTimeout(end, 300))]));
}

/** As the receiver does with a verified webhook. */
export async function receive(forwarder: Forwarder, log: Pick<EventLog, "append">, received: NewEvent) {
  const whole = { ...received, repeated: false };
  const plan = forwarder.plan(whole);
  if (plan === undefined) throw new Error("it is not forwarded");
  return plan.forward(whole, await log.append(received, plan.lease));
}

export const fresh = (id: string, record: Record<string, unknown> = {}): NewEvent =>
  event(id, record, new Date());

/** The name of the event in a request. */
export const nameIn = ({ body }: { readonly body: Uint8Array }): string =>
  (JSON.parse(Buffer.from(body).toString()) as { uti: string }).uti.replace("uti-", "");
