/** The deliveries of webhooks: in order for each link, several links at once, freshly signed and repeated by a schedule. */
import { signedWebhook } from "../sender/signed-webhook.ts";
import { parseWebAddress } from "../values/addresses.ts";
import { LONGEST_TIMER } from "../values/time.ts";
import { messageOf } from "../values/system-reason.ts";
import { stringifyJson } from "../values/json.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import { certificateReason, systemCode } from "../http/exchange.ts";
import { addressOf, isSuccess } from "../http/message.ts";
import { DEFAULT_POLICY } from "../signatures/policy.ts";
import { verify } from "../signatures/verify.ts";
import { isAllowed, isNamedHost } from "./access.ts";
import type { DeliveryAttempt, Delivery, Link } from "./store/ledger-rows.ts";
import type { SandboxSetup } from "./setup.ts";
import { ServiceProblem, unwritableLedger } from "./replies.ts";

/** The most simultaneous attempts: a receiver that hangs takes up a few of them, and delays no other receiver. */
const AT_ONCE = 32;

export function createDeliveries(setup: SandboxSetup) {
  const { ledger, clock } = setup;
  /** The attempts in progress, by the link: the webhooks of a link are posted one at a time. */
  const running = new Map<string, { readonly deliveryId: string; readonly ended: Promise<void> }>();
  /** What was to be sent again during an attempt, whose end must not overwrite that. */
  const resent = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  /** Why an attempt could not be stored. Nothing is posted from then on: the same webhook would be posted again and again. */
  let unwritable: unknown;

  const wake = (): void => {
    if (closed || unwritable !== undefined) return;
    try {
      while (running.size < AT_ONCE) {
        const delivery = ledger.nextDelivery(clock.now().getTime(), running.keys());
        if (delivery === undefined) break;
        start(delivery);
      }
      setTimer();
    } catch (error) {
      setup.faulted(error);
    }
  };
  const start = (delivery: Delivery): void => {
    const ended = attemptDelivery(delivery, setup)
      .catch((error: unknown) => {
        setup.faulted(error);
        unwritable = error;
      })
      .then(() => {
        running.delete(delivery.linkId);
        if (resent.delete(delivery.id)) startAgain(delivery.id);
        wake();
      })
      .catch(setup.faulted);
    running.set(delivery.linkId, { deliveryId: delivery.id, ended });
  };
  const startAgain = (id: string): void => {
    ledger.write(() => ledger.resend(id, clock.now().getTime()));
  };
  const isUnderWay = (id: string): boolean =>
    [...running.values()].some(({ deliveryId }) => deliveryId === id);
  const setTimer = (): void => {
    clearTimeout(timer);
    if (!clock.running) return;
    const now = clock.now().getTime();
    const due = ledger.nextDue(now);
    if (due !== undefined) timer = setTimeout(wake, Math.min(due - now, LONGEST_TIMER));
  };
  const idle = async (): Promise<void> => {
    while (running.size > 0) await Promise.all([...running.values()].map(({ ended }) => ended));
  };
  return {
    /** Posts what is due; call it after queueing a delivery. Reports failures, and never throws. */
    wake,
    /** Resolves when no delivery is due or being posted. */
    idle,
    /** Stores the webhook of a payment. Call it within a unit of the ledger, and `wake` once that is durable. */
    queue: (link: Link, record: WellFormedRecord, url: string): void => {
      const delivery: Delivery = {
        id: setup.newId(),
        linkId: link.id,
        uti: record.uti,
        url,
        body: new TextEncoder().encode(stringifyJson(record)),
        state: "pending",
        attempts: 0,
        tries: 0,
        due: clock.now().getTime(),
      };
      for (const queued of withFault(delivery, setup)) ledger.addDelivery(queued);
    },
    /** Starts a delivery's schedule again, with an attempt now. Throws a 404 problem for an unknown id. */
    resend: (id: string): void => {
      if (ledger.findDelivery(id) === undefined) throw new ServiceProblem(404, "no delivery has this id");
      if (isUnderWay(id)) resent.add(id);
      startAgain(id);
      wake();
    },
    /** The same for every failed delivery. */
    resendFailed: (): void => {
      ledger.write(() => ledger.resendFailed(clock.now().getTime()));
      wake();
    },
    /** Whether an attempt of a delivery has begun and waits for an answer. */
    isUnderWay,
    /** Moves the clock forward, making each attempt at the time it is due. Throws a 503 problem if one cannot be stored. */
    advance: async (milliseconds: number): Promise<void> => {
      const target = clock.now().getTime() + milliseconds;
      for (;;) {
        wake();
        await idle();
        if (unwritable !== undefined)
          throw unwritableLedger(unwritable, "; start the sandbox again once it can be");
        const due = ledger.nextDue(clock.now().getTime());
        if (due === undefined || due > target) break;
        clock.moveTo(new Date(due));
      }
      clock.moveTo(new Date(target));
      const ahead = clock.now().getTime() - setup.machineNow().getTime();
      ledger.write(() => ledger.moveClock(ahead));
      wake();
      await idle();
    },
    /** Finishes the attempts in progress and starts no more; the other deliveries stay on disk. */
    close: async (): Promise<void> => {
      closed = true;
      clearTimeout(timer);
      await idle();
    },
  };
}

/** How long the receiver may take to answer, in milliseconds. */
const RECEIVER_TIMEOUT = 10_000;
/** In the codes of OpenSSL and Node for a certificate that is not valid here, or whose authority is not known. */
const OF_CERTIFICATE = /CERT|LEAF_SIGNATURE/;
/** Characters of a response body that are stored. */
const STORED_RESPONSE = 2_000;

/** A kill between the POST and the commit repeats the attempt: webhooks are delivered at least once. */
async function attemptDelivery(delivery: Delivery, setup: SandboxSetup): Promise<void> {
  const { ledger, clock, schedule } = setup;
  const outcome = await postDelivery(delivery, setup);
  const { status } = outcome;
  const detail = outcome.duration === null ? `not sent: ${outcome.detail}` : outcome.detail;
  const at = clock.now();
  const attempt = { deliveryId: delivery.id, at, ...outcome };
  const wait = schedule[delivery.tries];
  const state = isSuccess(status) ? "delivered" : wait === undefined ? "failed" : "pending";
  const due = at.getTime() + (wait ?? 0);
  const number = ledger.write(() => ledger.addAttempt(attempt, { state, due }));
  setup.observe({ type: "delivery", delivery, attempt: number, status, detail, state });
}

type PostResult = Omit<DeliveryAttempt, "deliveryId" | "number" | "at">;

async function postDelivery(delivery: Delivery, setup: SandboxSetup): Promise<PostResult> {
  const signedAt = setup.machineNow();
  const unsent = {
    signedAt,
    headers: [],
    verdict: null,
    status: null,
    answerHeaders: [],
    answer: "",
    duration: null,
  };
  const url = parseWebAddress(delivery.url);
  if (url === undefined) return { ...unsent, detail: "not an absolute http or https URL" };
  if (!isAllowed(url.hostname, setup)) {
    const remedy = `Start the sandbox with --allow-host ${url.hostname}, or with --allow-remote for every host`;
    return { ...unsent, detail: `the host ${url.hostname} is not on this machine. ${remedy}` };
  }
  const mayTrust = isNamedHost(url.hostname, setup);
  const elapsed = (): number => setup.machineNow().getTime() - signedAt.getTime();
  const created = Math.floor(signedAt.getTime() / 1000);
  const first = setup.fault === "same-signature" ? setup.ledger.findAttempt(delivery.id, 1) : undefined;
  const request =
    first === undefined || first.headers.length === 0
      ? signedWebhook(delivery.body, { url, key: setup.keys.current(), created, form: setup.form })
      : { method: "POST", ...addressOf(url), headers: first.headers, body: delivery.body };
  // As the receiver should judge it now: a key that is replaced later changes nothing about it.
  const verdict = verify(request, { keys: setup.keys.verifying(), policy: DEFAULT_POLICY, now: created });
  const signed = { ...unsent, headers: request.headers, verdict };
  // Lost on its way to the receiver.
  if (setup.fault === "drop-first" && delivery.attempts === 0)
    return { ...signed, detail: "dropped by --deliver drop-first", duration: 0 };
  try {
    const insecure = setup.insecure && mayTrust;
    const { status, headers, body } = await setup.send(request, { timeout: RECEIVER_TIMEOUT, insecure });
    const answer = new TextDecoder().decode(body).slice(0, STORED_RESPONSE);
    const detail = `answered ${status}`;
    return { ...signed, status, answerHeaders: headers, answer, detail, duration: elapsed() };
  } catch (error) {
    if (!OF_CERTIFICATE.test(systemCode(error)))
      return { ...signed, detail: messageOf(error), duration: elapsed() };
    const remedy = mayTrust ? ". To accept it, start the sandbox with --insecure" : "";
    const reason = `the certificate of ${url.host} is not trusted (${certificateReason(error)})`;
    return { ...signed, detail: `${reason}${remedy}` };
  }
}

/** How long a late webhook waits, in milliseconds. */
const LATE = 30_000;
/** How long every other webhook waits so that the next one overtakes it, in milliseconds. */
const OVERTAKEN = 2_000;

/** The deliveries to queue for one webhook, whose payment is not stored yet. */
function withFault(delivery: Delivery, { fault, ledger, newId }: SandboxSetup): Delivery[] {
  if (fault === "duplicate") return [delivery, { ...delivery, id: newId() }];
  if (fault === "late") return [{ ...delivery, due: delivery.due + LATE }];
  if (fault === "out-of-order" && ledger.paymentCount() % 2 === 0)
    return [{ ...delivery, due: delivery.due + OVERTAKEN }];
  return [delivery];
}
