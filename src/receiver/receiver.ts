/** The receiver: takes each webhook through its checks in order, keeps what is authentic, and answers. */
import type { Handler, Refusal } from "../http/exchange.ts";
import type { HttpReply, HttpRequest, RequestHead } from "../http/message.ts";
import type { VerificationKey } from "../signatures/keys.ts";
import type { Policy } from "../signatures/policy.ts";
import type { Reason, Verdict } from "../signatures/verdict.ts";
import { addressed, type ReceiverAddress } from "./address.ts";
import { refuseHead } from "./admit.ts";
import type { EventLog, Rejection, WebhookEvent } from "./events.ts";
import { judge, type Judgement } from "./judge.ts";

export interface ReceiverParts {
  readonly keys: readonly VerificationKey[];
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
  readonly now: () => Date;
  readonly newId: () => string;
  readonly observe: (outcome: WebhookEvent | Rejection) => void;
}

export interface Receiver {
  readonly admit: (head: RequestHead) => Refusal | undefined;
  readonly refused: (refusal: Refusal) => void;
  readonly handle: Handler;
}

export function createReceiver(parts: ReceiverParts): Receiver {
  const reject = (rejection: Omit<Rejection, "type" | "id" | "receivedAt">): HttpReply => {
    parts.observe({ type: "rejected", id: parts.newId(), receivedAt: parts.now(), ...rejection });
    return reply(rejection.status);
  };
  return {
    admit: (head) => refuseHead(head, parts.path),
    refused: (refusal) =>
      void reject({ ...refusal, checks: [{ check: "http", ok: false, detail: refusal.detail }] }),
    handle: async (received) => {
      const request = addressed(received, parts.address());
      const judgement = judge(request, { ...parts, now: parts.now() });
      const { verdict, breaches } = judgement;
      if (verdict.verdict === "invalid" && !parts.unverified)
        return reject(unverifiedRejection(verdict, request));
      const [breach] = breaches;
      if (breach !== undefined && parts.strict)
        return reject({
          code: breach.code,
          status: 422,
          detail: describeBreach(breach),
          checks: verdict.checks,
        });
      return take(request, judgement, parts, reject);
    },
  };
}

async function take(
  request: HttpRequest,
  judgement: Judgement,
  { log, now, newId, observe }: ReceiverParts,
  reject: (rejection: Omit<Rejection, "type" | "id" | "receivedAt">) => HttpReply,
): Promise<HttpReply> {
  const event = { type: "event", id: newId(), receivedAt: now(), ...judgement, request } as const;
  try {
    const { repeated } = await log.append(event);
    observe({ ...event, verdict: repeated ? markRepeated(event.verdict) : event.verdict, repeated });
    return reply(200);
  } catch (error) {
    // What is not kept must not be acknowledged: the service tries again.
    const detail = `the event cannot be kept: ${error instanceof Error ? error.message : String(error)}`;
    return reject({ code: "not_stored", status: 503, detail, checks: judgement.verdict.checks });
  }
}

const markRepeated = (verdict: Verdict): Verdict => ({
  ...verdict,
  warnings: [...verdict.warnings, "duplicate_delivery"],
});

/** The answer never says more than its status does: the reasons are for the terminal. */
const reply = (status: number): HttpReply => ({ status, headers: [], body: NOTHING });
const NOTHING = new Uint8Array();

/** Every failure to verify answers 401, whatever the step; too many signatures is a limit (400). */
function unverifiedRejection(
  verdict: Verdict,
  { authority }: HttpRequest,
): Omit<Rejection, "type" | "id" | "receivedAt"> {
  const failed = verdict.checks.find(({ ok }) => !ok);
  const code: Reason | "ok" = verdict.code;
  return {
    code,
    status: code === "limit_exceeded" ? 400 : 401,
    detail: failed?.detail ?? code,
    checks: verdict.checks,
    ...(authority === ""
      ? { hint: "the Host names another address than this listener's: give it as --public-url" }
      : {}),
  };
}

const describeBreach = ({ path, message }: { path: string; message: string }): string =>
  path === "" ? `the body ${message}` : `${path} ${message}`;
