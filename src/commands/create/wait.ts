/** `paylink create --wait`: receives webhooks or follows a running `listen`, creates the link, and waits for its payment. */
import type { Context, Output } from "../../context.ts";
import { isLoopback, leadsTo, LISTENER_PORT, parseWebAddress } from "../../domain/addresses.ts";
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { DEFAULT_REFERENCE_MODE, type PaymentLinkRequest } from "../../domain/payment-link.ts";
import { belongsTo } from "../../domain/reference.ts";
import { judgeOutcome, textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import { DEFAULT_MAX_BODY } from "../../receiver/admit.ts";
import { asReceived, type EventStore } from "../../receiver/event-store.ts";
import { createEventIds, recordLine, type WebhookEvent } from "../../receiver/events.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { openKeyring } from "../../receiver/webhook-keys.ts";
import { clockTime } from "../../render/layout.ts";
import { renderRejection, renderWebhook } from "../../render/received-webhook.ts";
import { amountOf, renderCompactRecord } from "../../render/transaction-record.ts";
import type { RequestFlags } from "../../service/request.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { closingLater, type Later } from "../resources.ts";
import { isRunning } from "../running-listener.ts";
import { policyOf, transactionCommand } from "../shared-flags.ts";

interface WaitParts {
  readonly request: PaymentLinkRequest;
  /** Those that the user gave for this link. */
  readonly flags: RequestFlags;
  readonly settings: ResolvedSettings;
  readonly requireCreated: boolean | undefined;
  readonly quiet: boolean;
  readonly timeout: number | undefined;
  readonly send: (request: PaymentLinkRequest) => Promise<void>;
}

type PaymentEvent = WebhookEvent & { readonly record: TransactionRecord };

/** Where the link's payment is reported: to a receiver of this run, or to a running `listen`. */
interface Reception {
  /** Accepted and failed payments both count. */
  readonly callbacks: { readonly callbackUrl: string; readonly failureCallbackUrl: string };
  /** Resolves with the first payment of the link. */
  readonly payment: Promise<PaymentEvent>;
}

export const createAndWait = (context: Context, parts: WaitParts): Promise<number> =>
  closingLater(async (later) => {
    const { out, signal } = context;
    const store = await context.events();
    later(() => store.close());
    const callbacks = await listenedCallbacks(parts.request, store, context);
    // Before the link gets a reference: it may throw.
    const receive =
      callbacks === undefined
        ? receiveHere.bind(undefined, receiverPlan(parts))
        : followStore.bind(undefined, callbacks);
    const request = withReference(parts.request, context);
    const reception = await receive({ ...parts, request }, store, context, later);
    await parts.send({ ...request, paymentSettings: { ...request.paymentSettings, ...reception.callbacks } });
    out.note("Waiting for the payment. Ctrl-C ends the wait; the link stays valid.");
    const event = await paymentInTime(reception.payment, signal, parts.timeout);
    if (event !== undefined) showPayment(event, parts, out, await transactionCommand(context));
    return 0;
  });

/** Without an order number, a webhook does not show which link was paid. */
function withReference(request: PaymentLinkRequest, { out, newId }: Context): PaymentLinkRequest {
  const mode = request.linkOptions?.paymentReferenceMode ?? DEFAULT_REFERENCE_MODE;
  if (mode !== DEFAULT_REFERENCE_MODE)
    out.warn(
      `With reference mode ${mode} the customer can change the reference by which --wait recognises the payment.`,
    );
  if (request.invoiceId !== undefined && request.invoiceId !== "") return request;
  const invoiceId = `PL-${newId().replaceAll("-", "").slice(0, 12).toUpperCase()}`;
  out.note(`The link had no order number. It gets ${invoiceId}, so its payment can be recognised.`);
  return { ...request, invoiceId };
}

/** The reference is the link's order number (invoiceId); payments of a reusable link add a suffix (Events rule 4). */
function isPaymentOf(
  { invoiceId = "", linkOptions }: PaymentLinkRequest,
  event: WebhookEvent,
): event is PaymentEvent {
  const reference = event.record === null ? undefined : textOf(event.record, "reference");
  if (reference === undefined) return false;
  return linkOptions === undefined ? reference === invoiceId : belongsTo(reference, invoiceId);
}

interface ReceiverPlan {
  readonly port: number;
  readonly path: string;
  readonly publicAddress?: ReceiverAddress;
  /** The link's callback; undefined if it is the bound address. */
  readonly callbackUrl?: string;
}

/** Where a receiver of this run listens. */
const HOST = "127.0.0.1";

/** Decided before anything is sent: throws `usage` if the payment's webhook could never arrive here. */
function receiverPlan({ request, flags, settings }: WaitParts): ReceiverPlan {
  const { callbackUrl, failureCallbackUrl } = request.paymentSettings ?? {};
  const tunnel = parseWebAddress(settings.get("publicUrl") ?? "");
  const isServiceHere = isLoopback(parseWebAddress(settings.get("baseUrl") ?? "")?.hostname ?? "");
  // Given for this link, and not by the profile.
  const isChosen = (["callbackUrl", "failureCallbackUrl"] as const).some(
    (name) => flags[name] !== undefined || request.paymentSettings?.[name] !== settings.get(name),
  );
  const chosen = isChosen
    ? oneAddress(callbackUrl ?? failureCallbackUrl, failureCallbackUrl ?? callbackUrl)
    : undefined;
  if (tunnel !== undefined && (chosen ?? tunnel).href === tunnel.href)
    return {
      port: LISTENER_PORT,
      path: tunnel.pathname,
      publicAddress: publicAddress(tunnel),
      callbackUrl: tunnel.href,
    };
  if (chosen === undefined) {
    if (isServiceHere) return { port: 0, path: "/" };
    throw unreachable(
      `${settings.get("baseUrl") ?? "The service"} cannot post to a receiver on this machine`,
    );
  }
  if (!isServiceHere || chosen.protocol !== "http:" || !isLoopback(chosen.hostname))
    throw unreachable(`The callback ${chosen.href} does not lead to this receiver`);
  return { port: Number(chosen.port || 80), path: chosen.pathname, callbackUrl: chosen.href };
}

function oneAddress(callback = "", failureCallback = ""): URL {
  if (callback !== failureCallback)
    throw unreachable(`${callback} and ${failureCallback} are different, and --wait receives at one address`);
  return new URL(callback);
}

const unreachable = (what: string): PaylinkError =>
  new PaylinkError(
    "usage",
    `${what}, so --wait would never receive the payment's webhook. Nothing was sent.`,
    {
      hints: [
        hint`Point a tunnel at http://${HOST}:${String(LISTENER_PORT)}, then: ${paylink("config", "set", "publicUrl", "<the tunnel's address>")}`,
        hint`Without --wait, the webhook goes to your own endpoint.`,
      ],
    },
  );

/** Receives until `later` ends it, and prints what is no payment of the link. Throws `key_required` or `port_in_use`. */
async function receiveHere(
  { publicAddress, callbackUrl, port, path }: ReceiverPlan,
  { request, settings, requireCreated }: WaitParts,
  store: EventStore,
  context: Context,
  later: Later,
): Promise<Reception> {
  const { out, serve, now, readFile, send, signal, asAccount } = context;
  const sources = settings.get("webhookKey");
  if (sources === undefined)
    throw new PaylinkError(
      "key_required",
      "There is no key to verify the payment's webhook. Nothing was sent.",
      {
        hints: [
          hint`To store the service's public key: ${paylink("config", "set", "webhookKey", "<file or URL>")}`,
        ],
      },
    );
  const keyring = await openKeyring(sources, {
    readFile,
    send,
    signal,
    asAccount,
    place: "webhookKey",
    effect: "create",
    warn: out.warn,
    now,
  });
  await store.ready();
  let resolve = (_payment: PaymentEvent): void => undefined;
  const payment = new Promise<PaymentEvent>((onPayment) => {
    resolve = onPayment;
  });
  const server = await startReceiver({
    host: HOST,
    port,
    paths: [path],
    publicAddress: () => publicAddress,
    serve,
    now,
    newId: createEventIds(context),
    observe: (outcome) => {
      if (outcome.type === "rejected")
        out.note(renderRejection(`${clockTime(outcome.receivedAt)} ${outcome.id}`, outcome, out.notePaint));
      else if (isPaymentOf(request, outcome)) resolve(outcome);
      else if (outcome.record !== null)
        out.note(`Another payment: ${renderCompactRecord(outcome.record, out.notePaint)}`);
    },
    keys: keyring.keys,
    renewKeys: keyring.renew,
    policy: policyOf({ requireCreated }, settings),
    maxBody: DEFAULT_MAX_BODY,
    recordAt: settings.get("recordAt"),
    strict: false,
    unverified: false,
    log: store,
    faulted: (error) => out.warn(String(error)),
  });
  later(() => server.close());
  const url = callbackUrl ?? new URL(path, server.url).href;
  return { callbacks: { callbackUrl: url, failureCallbackUrl: url }, payment };
}

/** The callbacks of the link if a running `listen` that keeps its events in this store receives at them. */
async function listenedCallbacks(
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

/** Milliseconds between two reads of the store. */
const READ_INTERVAL = 250;

/** Milliseconds that the clock of the receiving machine may be behind. */
const CLOCK_DIFFERENCE = 3_600_000;

/**
 * Reads the store until the payment is there, or until `later` ends it. Each time it reads all candidates again: an event that
 * another program stores last may have arrived first, so reading on after the newest one would miss it.
 */
async function followStore(
  callbacks: Reception["callbacks"],
  { request, settings }: WaitParts,
  store: EventStore,
  { now, pause }: Context,
  later: Later,
): Promise<Reception> {
  const candidates = { since: new Date(now().getTime() - CLOCK_DIFFERENCE), reference: request.invoiceId };
  const known = new Set<string>();
  for await (const { id } of store.events(candidates)) known.add(id);
  const closing = new AbortController();
  const findPayment = async (): Promise<PaymentEvent> => {
    for (;;) {
      for await (const stored of store.events(candidates)) {
        if (known.has(stored.id)) continue;
        const event = asReceived(stored, settings.get("recordAt"));
        if (event.verdict.verdict === "valid" && isPaymentOf(request, event)) return event;
      }
      await pause(READ_INTERVAL);
      closing.signal.throwIfAborted();
    }
  };
  const payment = findPayment();
  // After the wait has ended, nothing handles the rejection.
  payment.catch(() => undefined);
  later(() => closing.abort());
  return { callbacks, payment };
}

/** Undefined if the run was interrupted first. Throws `timed_out`. */
async function paymentInTime(
  payment: Promise<PaymentEvent>,
  signal: AbortSignal,
  timeout: number | undefined,
): Promise<PaymentEvent | undefined> {
  let end = (): void => undefined;
  const ended = new Promise<undefined>((resolve) => {
    end = () => resolve(undefined);
  });
  const timer = timeout === undefined ? undefined : setTimeout(end, timeout);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    const event = await Promise.race([payment, ended]);
    if (event !== undefined || signal.aborted) return event;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
  throw new PaylinkError("timed_out", "Timed out: no payment of this link arrived.", {
    hints: [hint`The link exists and can still be paid. This run does not see a later payment.`],
  });
}

/** Throws `payment_failed` unless the payment was approved. */
function showPayment(
  event: PaymentEvent,
  { quiet }: WaitParts,
  out: Output,
  command: string | undefined,
): void {
  const { record } = event;
  if (out.json) out.data(recordLine(event));
  else if (quiet) out.note(renderCompactRecord(record, out.notePaint));
  else out.data(renderWebhook(event, { paint: out.paint, width: out.width, transactionCommand: command }));
  const { outcome, reason } = judgeOutcome(record);
  if (outcome === "APPROVED") return;
  const why = reason === undefined ? "" : `: ${reason}`;
  throw new PaylinkError(
    "payment_failed",
    `The payment of ${amountOf(record)} was ${WORDS[outcome]}${why}.`,
    {
      details: { outcome, reason },
    },
  );
}

const WORDS = {
  PARTIALLY_APPROVED: "approved for a part of the amount only",
  DECLINED: "declined",
  CANCELLED: "cancelled",
  UNCLEAR: "neither approved nor clearly refused",
};
