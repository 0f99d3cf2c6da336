/** One attempt of a delivery: a freshly signed POST, stored with its result and with the time of the next attempt. */
import { parseWebAddress } from "../../domain/addresses.ts";
import type { Send } from "../../http/exchange.ts";
import type { SignatureForm } from "../../webhooks/signature-form.ts";
import { signWebhook } from "../../webhooks/signed-webhook.ts";
import { type AllowedHosts, isAllowed, isNamed } from "../allowed-hosts.ts";
import type { Clock } from "../clock.ts";
import type { Attempt, Delivery, DeliveryState, Ledger } from "../ledger-types.ts";
import type { SigningKeys } from "../signing-keys.ts";
import { type Fault, isDropped } from "./delivery-faults.ts";
import { describeSendError } from "./untrusted-certificate.ts";

/** How long the receiver may take, in milliseconds. */
const TIMEOUT = 10_000;
/** Characters of a response body that are stored. */
const STORED_RESPONSE = 2_000;

export interface AttemptReport {
  readonly delivery: Delivery;
  readonly attempt: number;
  /** The receiver's status; null without a response. */
  readonly status: number | null;
  readonly detail: string;
  readonly state: DeliveryState;
}

export interface AttemptParts extends AllowedHosts {
  readonly ledger: Ledger;
  readonly keys: SigningKeys;
  readonly form: SignatureForm;
  readonly send: Send;
  readonly clock: Clock;
  /** For a signature's `created`, which receivers compare with their own clocks, not with the sandbox's. */
  readonly machineNow: () => Date;
  /** Accepts a self-signed certificate of loopback and of the allowed hosts. */
  readonly insecure: boolean;
  /** Milliseconds until each further attempt. */
  readonly schedule: readonly number[];
  readonly fault: Fault | undefined;
  readonly report: (report: AttemptReport) => void;
}

/** A kill between the POST and the commit repeats the attempt: webhooks are delivered at least once. */
export async function attemptDelivery(delivery: Delivery, parts: AttemptParts): Promise<void> {
  const { ledger, clock, schedule, report } = parts;
  const outcome = await post(delivery, parts);
  const { status, detail } = outcome;
  const delivered = status !== null && status >= 200 && status < 300;
  const wait = schedule[delivery.tries];
  const state = delivered ? "delivered" : wait === undefined ? "failed" : "waiting";
  const at = clock.now();
  const number = delivery.attempts + 1;
  const attempt = { deliveryId: delivery.id, number, at, ...outcome };
  await ledger.write(() => ledger.addAttempt(attempt, state, at.getTime() + (wait ?? 0)));
  report({ delivery, attempt: number, status, detail, state });
}

type AttemptResult = Omit<Attempt, "deliveryId" | "number" | "at">;

async function post(delivery: Delivery, parts: AttemptParts): Promise<AttemptResult> {
  const unanswered = { status: null, answerHeaders: [], answer: "", duration: null };
  const unsent = { headers: [], base: "", ...unanswered };
  const url = parseWebAddress(delivery.url);
  if (url === undefined) return { ...unsent, detail: "not sent: not an absolute http or https URL" };
  if (!isAllowed(url.hostname, parts))
    return {
      ...unsent,
      detail: `not sent: not on this machine. Start the sandbox with --allow-host ${url.hostname}, or --allow-remote for every host`,
    };
  const mayTrust = isNamed(url.hostname, parts);
  const started = parts.machineNow().getTime();
  const { request, base } = signWebhook(delivery.body, {
    url,
    key: parts.keys.current(),
    created: Math.floor(started / 1000),
    form: parts.form,
  });
  const sent = { headers: request.headers, base };
  if (isDropped(delivery, parts.fault))
    return { ...sent, ...unanswered, detail: "dropped by --deliver drop-first" };
  const elapsed = (): number => parts.machineNow().getTime() - started;
  try {
    const { status, headers, body } = await parts.send(request, {
      timeout: TIMEOUT,
      insecure: parts.insecure && mayTrust,
    });
    const answer = new TextDecoder().decode(body).slice(0, STORED_RESPONSE);
    return {
      ...sent,
      status,
      answerHeaders: headers,
      answer,
      detail: `answered ${status}`,
      duration: elapsed(),
    };
  } catch (error) {
    return {
      ...sent,
      ...unanswered,
      detail: describeSendError(error, url, mayTrust),
      duration: elapsed(),
    };
  }
}
