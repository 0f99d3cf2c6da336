/** The receiver: verifies each webhook, stores what is authentic, forwards it, and answers the service. */
import { messageOf } from "../values/system-reason.ts";
import { publicProblem, REASONS, type RefusalCode } from "../domain/reasons.ts";
import { describeViolation, type ReadRecord, textOf } from "../domain/transaction.ts";
import type { Handler, Serve, ServeOptions, HttpServer } from "../http/exchange.ts";
import { refusal } from "../http/refusal.ts";
import { type HttpReply, type HttpRequest, NO_BODY } from "../http/message.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { addressed, addressHint, namesLoopback, type ReceiverAddress } from "./address.ts";
import { refuseHead, refuseHost, refuseMediaType } from "./admit.ts";
import type {
  EventLog,
  NewEvent,
  PrintedAs,
  Rejection,
  RunKeys,
  Stored,
  WebhookEvent,
} from "../events/event.ts";
import type { Forwarder } from "./forwarder.ts";
import { createJudge, type Judgement, refusedAs, type RenewalOptions, warned } from "./judge.ts";

export interface ReceiverOptions
  extends Pick<ServeOptions, "host" | "port" | "tls" | "maxBody">, RenewalOptions {
  readonly serve: Serve;
  /** The keys of this run, which decide whether an event is a repeat. */
  readonly runKeys: () => RunKeys;
  /** The address that the service posts to; undefined if it is the listener's own. */
  readonly publicAddress: () => ReceiverAddress | undefined;
  /** The paths that are answered; others are 404. */
  readonly paths: readonly string[];
  /** Refuses records that break the specification. */
  readonly strict: boolean;
  /** The terminals whose records are accepted; empty for those of any. */
  readonly terminals: readonly string[];
  readonly log: EventLog;
  readonly forwarder?: Forwarder | undefined;
  readonly now: () => Date;
  readonly newId: () => string;
  /** How events are printed as JSON, if they are: the store makes their lines, in a thread of its own. */
  readonly print?: PrintedAs | undefined;
  readonly observe: (outcome: WebhookEvent | Rejection) => void;
  readonly faulted: (error: unknown) => void;
}

export async function startReceiver(options: ReceiverOptions): Promise<HttpServer> {
  const { serve, host, port, tls, maxBody, faulted, publicAddress } = options;
  const scheme = tls === undefined ? "http" : "https";
  /** Complete once the listener is bound, before the first request. */
  let own: ReceiverAddress = { kind: "own", scheme, hosts: [host], port };
  const { handle, ...hooks } = createReceiver(options, () => publicAddress() ?? own);
  const server = await serve(handle, { host, port, tls, maxBody, faulted, ...hooks });
  own = { kind: "own", scheme, hosts: server.hosts, port: server.port };
  return server;
}

interface Receiver extends Pick<Required<ServeOptions>, "admit" | "refused"> {
  readonly handle: Handler;
}

interface Rejected extends Omit<Rejection, "type" | "id" | "receivedAt"> {
  readonly code: RefusalCode;
}
type Reject = (rejected: Rejected) => HttpReply;

function createReceiver(parts: ReceiverOptions, address: () => ReceiverAddress): Receiver {
  const { paths, log, strict, terminals, unverified, now, newId, observe, forwarder, print, runKeys } = parts;
  const judgeWithFreshKeys = createJudge(parts);
  const judgeAtAnyAge = createJudge({ ...parts, policy: { ...parts.policy, maxAge: Infinity } });
  const reject: Reject = (rejected) => {
    const rejection: Rejection = { type: "rejected", id: newId(), receivedAt: now(), ...rejected };
    // If the disk is full, the next event reports it; a flood is stored as far as it can be written.
    void log.reject(rejection).catch(() => undefined);
    observe(rejection);
    return problem(rejected);
  };
  const eventOf = (request: HttpRequest, { verdict, content }: Judgement, receivedAt: Date): NewEvent => ({
    type: "event",
    id: newId(),
    receivedAt,
    verdict,
    request,
    content,
    print,
    keys: runKeys(),
  });
  /** Stores the event, and forwards it if it is verified. */
  const accept = async (event: NewEvent): Promise<HttpReply> => {
    const plan = event.verdict.verdict === "valid" ? forwarder?.plan(event) : undefined;
    let stored: Stored;
    try {
      stored = await log.append(event, plan?.lease);
    } catch (error) {
      return reject(notStored(event, error));
    }
    const observed = observedAs(event, stored);
    observe(observed);
    return plan === undefined ? OK : plan.forward(observed, stored);
  };
  /**
   * A service may repeat a webhook with its first signature, which is too old by then. Where the same bytes were stored before, it is no
   * replay of anything else; it is stored, and not forwarded. Undefined where they were not, or no key verifies it.
   */
  const acceptRepeat = async (request: HttpRequest, receivedAt: Date): Promise<HttpReply | undefined> => {
    const judgement = await judgeAtAnyAge(request, receivedAt);
    if (judgement.verdict.verdict !== "valid") return undefined;
    const event = eventOf(request, judgement, receivedAt);
    let stored: Stored | undefined;
    try {
      stored = await log.again(event);
    } catch (error) {
      return reject(notStored(event, error));
    }
    if (stored === undefined) return undefined;
    observe(observedAs(event, stored));
    return OK;
  };
  return {
    // A proxy may strip a prefix of the public path, so both paths are right.
    admit: (head) => {
      if (unverified && !namesLoopback(head.authority)) return refuseHost(head);
      const refused = refuseHead(head, paths);
      if (refused?.code !== "not_found") return refused;
      const asPublic = refuseHead(addressed(head, address()), paths);
      return asPublic?.code === "not_found" ? refused : asPublic;
    },
    refused: (why, head) =>
      void reject({
        ...why,
        verdict: null,
        request: head === undefined ? null : { ...head, body: NO_BODY },
      }),
    handle: async (received) => {
      const request = addressed(received, address());
      const receivedAt = now();
      let judgement: Judgement;
      try {
        judgement = await judgeWithFreshKeys(request, receivedAt);
      } catch (error) {
        return reject({
          ...refusal("internal_error", `the webhook could not be verified: ${messageOf(error)}`),
          verdict: null,
          request,
        });
      }
      const { verdict, content } = judgement;
      const isCallback = verdict.code === "signature_in_body";
      const refused = isCallback ? undefined : refuseMediaType(request);
      if (refused !== undefined) return reject({ ...refused, verdict, request });
      if (verdict.verdict === "invalid" && (isCallback || !unverified)) {
        const repeated =
          verdict.code === "signature_too_old" ? await acceptRepeat(request, receivedAt) : undefined;
        return repeated ?? reject(unverifiedRejection(judgement, request));
      }
      const [violation] = strict ? content.violations : [];
      if (violation !== undefined) {
        const detail = describeViolation(violation);
        const { code } = violation;
        return reject({ ...refusal(code, detail), verdict, request });
      }
      const terminal = otherTerminal(content, terminals);
      if (terminal !== undefined)
        return reject({ ...refusal("terminal_mismatch", terminal), verdict, request });
      return accept(eventOf(request, judgement, receivedAt));
    },
  };
}

/** What is said of a record that is of none of these terminals; undefined if it is of one, or any is accepted. */
function otherTerminal(content: ReadRecord, terminals: readonly string[]): string | undefined {
  if (terminals.length === 0) return undefined;
  const { record } = content;
  const terminal = record === null ? undefined : textOf(record, "terminalId");
  if (terminal === undefined) return "the record names no terminal";
  return terminals.includes(terminal) ? undefined : `the record is of terminal ${terminal}`;
}

/** The event with what the log knows of it. */
const observedAs = (
  { id, receivedAt, verdict, request, content }: NewEvent,
  stored: Stored,
): WebhookEvent => ({
  type: "event",
  id,
  receivedAt,
  repeated: stored.repeated,
  verdict: withWarnings(verdict, stored),
  request,
  content,
  line: stored.line,
  order: stored.order,
});

/** An event that is not stored must not be acknowledged: the service delivers it again. */
const notStored = ({ verdict, request }: NewEvent, error: unknown): Rejected => ({
  ...refusal("not_stored", `the event cannot be stored: ${messageOf(error)}`),
  verdict,
  request,
});

/** The verdict with what the log knows. */
function withWarnings(verdict: Verdict, { repeated, isPaidBefore = false }: Stored): Verdict {
  const known = isPaidBefore ? warned(verdict, "order_paid_before") : verdict;
  return repeated ? warned(known, "duplicate_delivery") : known;
}

const OK: HttpReply = { status: 200, headers: [], body: NO_BODY };

const problem = ({ status, code }: Rejected): HttpReply => ({
  status,
  // The sender of a rejected request must connect again for the next one: pipelined requests end with the first.
  headers: [
    ["Content-Type", "application/problem+json"],
    ["Connection", "close"],
  ],
  body: new TextEncoder().encode(JSON.stringify(publicProblem(code, status))),
});

/** Reason codes with advice of their own. */
const ADVISED: ReadonlySet<string> = new Set(["signature_in_body", "signature_too_old"]);

function unverifiedRejection(judgement: Judgement, request: HttpRequest): Rejected {
  const { verdict } = judgement;
  const refused = refusedAs(judgement);
  const hint = ADVISED.has(refused.code) ? REASONS[refused.code].advice : addressHint(request);
  return {
    ...refused,
    verdict,
    request,
    ...(hint === undefined ? {} : { hint }),
  };
}
