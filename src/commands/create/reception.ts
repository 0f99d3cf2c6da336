/** How the payment of a link reaches `create --wait`: through a receiver of its own, or through the store of a running `listen`. */
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { isLoopback, leadsTo, LISTENER_PORT, parseWebAddress } from "../../domain/addresses.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link.ts";
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import type { RequestFlags } from "../../service/request.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import type { Context, Output } from "../../context.ts";
import { belongsTo } from "../../domain/reference.ts";
import { textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { asReceived, type EventStore } from "../../receiver/event-store.ts";
import { createEventIds, type Rejection, type WebhookEvent } from "../../receiver/events.ts";
import { DEFAULT_MAX_BODY } from "../../receiver/admit.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { openKeyring } from "../../receiver/webhook-keys.ts";
import { renderCompactRecord } from "../../render/transaction-record.ts";
import { renderRejection } from "../../render/received-webhook.ts";
import { policyOf } from "../shared-flags.ts";
import type { Later } from "../resources.ts";
import { isRunning } from "../running-listener.ts";

export type PaymentEvent = WebhookEvent & { readonly record: TransactionRecord };

/** Where the link's payment is reported: a receiver of this run, or a running `listen`. */
interface Reception {
  /** Accepted and failed payments both count. */
  readonly callbacks: { readonly callbackUrl: string; readonly failureCallbackUrl: string };
  /** Resolves with the first payment of the link. */
  readonly payment: Promise<PaymentEvent>;
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

export interface ReceptionParts {
  readonly request: PaymentLinkRequest;
  /** The flags that the user gave for this link. */
  readonly flags: RequestFlags;
  readonly settings: ResolvedSettings;
  readonly requireCreated: boolean | undefined;
}

/** Starts to receive for the link that is about to be created, until `later` ends it. */
type Receive = (request: PaymentLinkRequest, later: Later) => Promise<Reception>;

/** Decided before anything is sent: throws `usage` if the payment's webhook could never arrive. */
export async function openReception(
  parts: ReceptionParts,
  store: EventStore,
  context: Context,
): Promise<Receive> {
  const { request, flags, settings } = parts;
  const callbacks = await listenedCallbacks(request, store, context);
  if (callbacks !== undefined)
    return (link, later) => followStore(link, callbacks, store, settings.get("recordAt"), context, later);
  const plan = receiverPlan(request, flags, settings);
  return (link, later) => receiveHere(link, plan, parts, store, context, later);
}

const HOST = "127.0.0.1";

interface ReceiverPlan {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly publicAddress: ReceiverAddress | undefined;
  /** The link's callback; undefined if it is the bound address. */
  readonly callbackUrl: string | undefined;
}

/** Throws `usage` if the payment's webhook could never arrive here. */
function receiverPlan(
  request: PaymentLinkRequest,
  flags: RequestFlags,
  settings: ResolvedSettings,
): ReceiverPlan {
  const { paymentSettings = {} } = request;
  const { callbackUrl, failureCallbackUrl } = paymentSettings;
  const tunnel = parseWebAddress(settings.get("publicUrl") ?? "");
  const onThisMachine = isLoopback(parseWebAddress(settings.get("baseUrl") ?? "")?.hostname ?? "");
  if (hasChosenCallback(request, flags, settings)) {
    const address = oneAddress(callbackUrl ?? failureCallbackUrl, failureCallbackUrl ?? callbackUrl);
    if (address.href === tunnel?.href) return throughTunnel(tunnel);
    if (address.protocol === "http:" && isLoopback(address.hostname) && onThisMachine)
      return {
        ...HERE,
        port: Number(address.port || 80),
        path: address.pathname,
        callbackUrl: address.href,
      };
    throw unreachable(`The callback ${address.href} does not lead to this receiver`);
  }
  if (tunnel !== undefined) return throughTunnel(tunnel);
  if (onThisMachine) return HERE;
  throw unreachable(`${settings.get("baseUrl") ?? "The service"} cannot post to a receiver on this machine`);
}

/** Whether the request has a callback that the user gave for this link, and not one from the profile. */
function hasChosenCallback(
  { paymentSettings = {} }: PaymentLinkRequest,
  flags: RequestFlags,
  settings: ResolvedSettings,
): boolean {
  return (["callbackUrl", "failureCallbackUrl"] as const).some(
    (name) => flags[name] !== undefined || paymentSettings[name] !== settings.get(name),
  );
}

const HERE: ReceiverPlan = {
  host: HOST,
  port: 0,
  path: "/",
  publicAddress: undefined,
  callbackUrl: undefined,
};

const throughTunnel = (tunnel: URL): ReceiverPlan => ({
  host: HOST,
  port: LISTENER_PORT,
  path: tunnel.pathname,
  publicAddress: publicAddress(tunnel),
  callbackUrl: tunnel.href,
});

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

type Observe = (outcome: WebhookEvent | Rejection) => void;

/** Throws `key_required` or `port_in_use`. */
async function receiveHere(
  request: PaymentLinkRequest,
  plan: ReceiverPlan,
  { settings, requireCreated }: ReceptionParts,
  store: EventStore,
  context: Context,
  later: Later,
): Promise<Reception> {
  const { out, serve, now, readFile, send, signal } = context;
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
    place: "webhookKey",
    effect: "create",
    warn: out.warn,
    now,
  });
  await store.ready();
  const { payment, observe } = watchForPayment(request, out);
  const server = await startReceiver({
    ...plan,
    paths: [plan.path],
    publicAddress: () => plan.publicAddress,
    serve,
    now,
    newId: createEventIds(context),
    observe,
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
  const callbackUrl = plan.callbackUrl ?? new URL(plan.path, server.url).href;
  return { callbacks: { callbackUrl, failureCallbackUrl: callbackUrl }, payment };
}

/** Resolves `payment` with the first payment of the link, and prints everything else that arrives. */
function watchForPayment(
  request: PaymentLinkRequest,
  out: Output,
): { readonly payment: Promise<PaymentEvent>; readonly observe: Observe } {
  let resolve = (_payment: PaymentEvent): void => undefined;
  const payment = new Promise<PaymentEvent>((onPayment) => {
    resolve = onPayment;
  });
  return {
    payment,
    observe: (outcome) => {
      if (outcome.type === "rejected") out.note(renderRejection(outcome, out.notePaint));
      else if (isPaymentOf(request, outcome)) resolve(outcome);
      else if (outcome.record !== null)
        out.note(`Another payment: ${renderCompactRecord(outcome.record, out.notePaint)}`);
    },
  };
}

/** Milliseconds between two reads of the store. */
const READ_INTERVAL = 250;

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

/** Milliseconds that the clock of the receiving machine may be behind. */
const CLOCK_DIFFERENCE = 3_600_000;

/**
 * Reads the store until the payment is there, or until `later` ends it. Each time it reads all candidates again: an event that
 * another program stores last may have arrived first, so reading on after the newest one would miss it.
 */
async function followStore(
  request: PaymentLinkRequest,
  callbacks: Reception["callbacks"],
  store: EventStore,
  recordAt: string | undefined,
  { now, pause }: Pick<Context, "now" | "pause">,
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
  later(() => closing.abort());
  return { callbacks, payment };
}
