/** The receiver: takes each webhook through its checks in order, keeps what is authentic, and answers. */
import type { Handler, Refusal } from "../http/exchange.ts";
import type { HttpReply, HttpRequest, RequestHead } from "../http/message.ts";
import type { VerificationKey } from "../signatures/keys.ts";
import type { Policy } from "../signatures/policy.ts";
import type { Reason, Verdict } from "../signatures/verdict.ts";
import { addressed, type ReceiverAddress } from "./address.ts";
import { refuseHead } from "./admit.ts";
import { eventJson, type EventLog, type StoreResult, type Rejection, type WebhookEvent } from "./events.ts";
import { judge, warned, type Judgement } from "./judge.ts";

export interface ReceiverParts {
  readonly keys: readonly VerificationKey[];
  /** Asked where a signature may be by a key that is newer than ours: a fresh set, or nothing where it is not time. */
  readonly renewKeys?: () => Promise<readonly VerificationKey[] | undefined>;
  readonly policy: Policy;
  /** Known once the listener is bound, and before any request can come. */
  readonly address: () => ReceiverAddress;
  readonly path: string;
  readonly maxBody: number;
  /** Refuses records that break the specification. */
  readonly strict: boolean;
  /** Takes what does not verify too, marked so. */
  readonly unverified: boolean;
  readonly log: EventLog;
  /** Passes a kept event on and resolves with the status that the service is answered. */
  readonly forward?: ((event: WebhookEvent, first: string) => Promise<number>) | undefined;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly observe: (outcome: WebhookEvent | Rejection) => void;
}

export interface Receiver {
  readonly admit: (head: RequestHead) => Refusal | undefined;
  readonly refused: (refusal: Refusal, head: RequestHead | undefined) => void;
  readonly handle: Handler;
}

type Rejected = Omit<Rejection, "type" | "id" | "receivedAt">;
type Reject = (rejected: Rejected) => HttpReply;

export function createReceiver(parts: ReceiverParts): Receiver {
  const { path, log, strict, unverified, now, newId, observe } = parts;
  const judgeWithFreshKeys = createJudge(parts);
  const reject: Reject = (rejected) => {
    const rejection: Rejection = { type: "rejected", id: newId(), receivedAt: now(), ...rejected };
    log.reject(rejection);
    observe(rejection);
    return reply(rejection.status);
  };
  return {
    admit: (head) => refuseHead(head, path),
    refused: (refusal, head) =>
      void reject({
        ...refusal,
        checks: [{ check: "http", ok: false, detail: refusal.detail }],
        request: head === undefined ? null : { ...head, body: NOTHING },
      }),
    handle: async (received) => {
      const request = addressed(received, parts.address());
      const judgement = await judgeWithFreshKeys(request);
      const { verdict, breaches } = judgement;
      if (verdict.verdict === "invalid" && !unverified) return reject(unverifiedRejection(verdict, request));
      const [breach] = breaches;
      if (breach !== undefined && strict) {
        const detail = describeBreach(breach);
        return reject({ code: breach.code, status: 422, detail, checks: verdict.checks, request });
      }
      return take(request, judgement, parts, reject);
    },
  };
}

/** A key that is not known may have come into use since ours were read: they are renewed, and it is judged again. */
function createJudge(parts: ReceiverParts): (request: HttpRequest) => Promise<Judgement> {
  const { policy, maxBody, unverified, now, renewKeys } = parts;
  let { keys } = parts;
  const judgeNow = (request: HttpRequest): Judgement =>
    judge(request, { keys, policy, maxBody, unverified, now: now() });
  return async (request) => {
    const judgement = judgeNow(request);
    if (renewKeys === undefined || !mayBeNewKey(judgement.verdict, keys)) return judgement;
    const renewed = await renewKeys();
    if (renewed === undefined) return judgement;
    keys = renewed;
    return judgeNow(request);
  };
}

/** A key without an id takes any signature, so that a new one in its place shows only by not verifying. */
const mayBeNewKey = ({ code }: Verdict, keys: readonly VerificationKey[]): boolean =>
  code === "key_not_found" || (code === "signature_invalid" && keys.some(({ keyid }) => keyid === null));

async function take(
  request: HttpRequest,
  judgement: Judgement,
  { log, forward, now, newId, observe }: ReceiverParts,
  reject: Reject,
): Promise<HttpReply> {
  const { verdict, record, breaches } = judgement;
  const event: WebhookEvent = {
    type: "event",
    id: newId(),
    receivedAt: now(),
    repeated: false,
    verdict,
    record,
    breaches,
    request,
    json: eventJson(verdict, request),
  };
  let result: StoreResult;
  try {
    result = await log.append(event);
  } catch (error) {
    // What is not kept must not be acknowledged: the service tries again.
    const detail = `the event cannot be kept: ${error instanceof Error ? error.message : String(error)}`;
    return reject({ code: "not_stored", status: 503, detail, checks: verdict.checks, request });
  }
  const { repeated, first, accepted } = result;
  const known = repeated ? asRepeated(event) : event;
  observe(known);
  const passesOn = forward !== undefined && !accepted && verdict.verdict === "valid";
  return passesOn ? reply(await forward(known, first)) : OK;
}

function asRepeated(event: WebhookEvent): WebhookEvent {
  const verdict = warned(event.verdict, "duplicate_delivery");
  return { ...event, repeated: true, verdict, json: eventJson(verdict, event.request) };
}

/** The answer never says more than its status does: the reasons are for the terminal. */
const reply = (status: number): HttpReply => ({ status, headers: [], body: NOTHING });
const NOTHING = new Uint8Array();
const OK = reply(200);

/** Every failure to verify answers 401, whatever the step; too many signatures is a limit (400). */
function unverifiedRejection(verdict: Verdict, request: HttpRequest): Rejected {
  const failed = verdict.checks.find(({ ok }) => !ok);
  const code: Reason | "ok" = verdict.code;
  return {
    code,
    status: code === "limit_exceeded" ? 400 : 401,
    detail: failed?.detail ?? code,
    checks: verdict.checks,
    request,
    ...(request.authority === ""
      ? { hint: "the Host names another address than this listener's: give it as --public-url" }
      : {}),
  };
}

const describeBreach = ({ path, message }: { path: string; message: string }): string =>
  path === "" ? `the body ${message}` : `${path} ${message}`;
