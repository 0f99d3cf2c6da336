/** Waits for the payment of a link whose webhooks a running `listen` receives, by reading what it stores. */
import type { Context } from "../../context.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link.ts";
import { isLoopback, parseWebAddress } from "../../domain/addresses.ts";
import { asReceived, type EventStore } from "../../receiver/event-store.ts";
import { isRunning } from "../running-listener.ts";
import { isPaymentOf, type PaymentEvent, type Reception } from "./own-receiver.ts";

/** Milliseconds between two reads of the store. */
const READ_INTERVAL = 250;

/** The callbacks of the link if a running `listen` that keeps its events in this store receives at them. */
export async function listenedCallbacks(
  { paymentSettings = {} }: PaymentLinkRequest,
  store: EventStore,
  { serve }: Pick<Context, "serve">,
): Promise<Reception["callbacks"] | undefined> {
  const { callbackUrl = paymentSettings.failureCallbackUrl } = paymentSettings;
  if (callbackUrl === undefined) return undefined;
  const { failureCallbackUrl = callbackUrl } = paymentSettings;
  const listeners = await store.listeners();
  for (const url of [callbackUrl, failureCallbackUrl]) {
    const listener = listeners.find(({ address, bound }) =>
      [address, bound].some((one) => leadsTo(url, one)),
    );
    if (listener === undefined || !(await isRunning(listener, serve))) return undefined;
  }
  return { callbackUrl, failureCallbackUrl };
}

/** The receiver is the same with any query. */
function leadsTo(url: string, address: string): boolean {
  const [one, other] = [url, address].map(withoutQuery);
  return one !== undefined && one === other;
}

function withoutQuery(text: string): string | undefined {
  const url = parseWebAddress(text);
  if (url === undefined) return undefined;
  const host = isLoopback(url.hostname) ? "localhost" : url.hostname;
  return `${url.protocol}//${host}:${url.port}${url.pathname}`;
}

/** Milliseconds that the clock of the receiving machine may be behind. */
const CLOCK_DIFFERENCE = 3_600_000;

/**
 * Reads the store until the payment is there, or until `close`. Each time it reads all candidates again: an event that
 * another program stores last may have arrived first, so reading on after the newest one would miss it.
 */
export async function followStore(
  request: PaymentLinkRequest,
  callbacks: Reception["callbacks"],
  store: EventStore,
  recordAt: string | undefined,
  { now, pause }: Pick<Context, "now" | "pause">,
): Promise<Reception> {
  const candidates = { since: new Date(now().getTime() - CLOCK_DIFFERENCE), reference: request.invoiceId };
  const known = new Set<string>();
  for await (const { id } of store.events(candidates)) known.add(id);
  const closing = new AbortController();
  const findPayment = async (): Promise<PaymentEvent> => {
    for (;;) {
      for await (const stored of store.events(candidates)) {
        if (known.has(stored.id)) continue;
        const event = asReceived(stored, recordAt);
        if (event.verdict.verdict === "valid" && isPaymentOf(request, event)) return event;
      }
      await pause(READ_INTERVAL);
      closing.signal.throwIfAborted();
    }
  };
  const payment = findPayment();
  // After the wait has ended, nothing handles the rejection.
  payment.catch(() => undefined);
  return { callbacks, payment, close: async () => closing.abort() };
}
