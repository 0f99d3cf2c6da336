/** What became of an attempt: the sentence that the page of a delivery opens with, its reason, and the way of the webhook. */
import { isInnerList, parseList } from "structured-headers";
import { TAMPERINGS, type Tampering } from "../../check/tamperings.ts";
import type { TamperingName } from "../../check/tampering-names.ts";
import type { Json } from "../../domain/json.ts";
import { capitalized } from "../../domain/payment-link-fields.ts";
import { parseJsonObject } from "../../domain/parse-json.ts";
import { fieldLines } from "../../http/message.ts";
import { isAccepted } from "../deliveries.ts";
import type { Attempt } from "../store/rows.ts";
import { clipped } from "./parts.ts";

/** What became of an attempt, in one sentence, with its reason. */
export interface Outcome {
  readonly kind: "good" | "bad" | "waiting";
  readonly words: string;
  readonly reason?: string | undefined;
  /** How long it takes already: seen, and not read aloud at each second. */
  readonly elapsed?: string;
}

export function outcomeOf(attempt: Attempt | undefined): Outcome {
  if (attempt === undefined) return { kind: "waiting", words: "The webhook has not been sent yet." };
  const { status, duration, detail } = attempt;
  const tampering = tamperingNamed(attempt.tampering);
  const application = hopsOf(attempt).find(({ isLast }) => isLast);
  const receiver = application === undefined ? "Your server" : "Your application";
  const time = duration === null ? "" : ` in ${duration} ms`;
  if (status === null)
    return duration === null
      ? {
          kind: "bad",
          words: "The webhook was not sent.",
          reason: capitalized(detail),
        }
      : {
          kind: "bad",
          words: `${receiver} did not answer.`,
          reason: `${detail}, after ${duration} ms`,
        };
  const reason = reasonIn(attempt);
  if (tampering !== undefined)
    return isAccepted(attempt)
      ? {
          kind: "bad",
          words: `${receiver} accepted a tampered webhook: ${status}${time}.`,
          reason: tampering.matters,
        }
      : {
          kind: "good",
          words: `${receiver} refused the tampered webhook, as it must: ${status}${time}.`,
          reason,
        };
  if (isAccepted(attempt)) return { kind: "good", words: `${receiver} accepted it: ${status}${time}.` };
  if (status < 400)
    return {
      kind: "bad",
      words: `${receiver} redirected it: ${status}${time}.`,
      reason: "A webhook follows no redirect. Use the final address as the callback URL.",
    };
  const did = application?.isSilent ? "did not answer" : status < 500 ? "refused it" : "failed";
  return { kind: "bad", words: `${receiver} ${did}: ${status}${time}.`, reason };
}

/** Members that say why, in the shapes that are common: problem details (RFC 9457) first. */
const REASONS = ["detail", "message", "title", "error", "reason"];

/** Why the receiver refused, as far as its answer says so. */
function reasonIn({ answer, answerHeaders }: Attempt): string | undefined {
  const body = parseJsonObject(answer);
  if (body !== undefined) {
    const nested = body["error"];
    const inner =
      typeof nested === "object" && nested !== null && !Array.isArray(nested) ? { ...nested } : {};
    const text = (value: Json | undefined) => (typeof value === "string" && value !== "" ? value : undefined);
    const found = [body, inner].flatMap((object: Record<string, Json>) =>
      REASONS.map((name) => text(object[name])),
    );
    const words = found.find((value) => value !== undefined);
    const code = text(body["code"]);
    if (words !== undefined) return `${capitalized(words)}${code === undefined ? "" : ` (${code})`}`;
    return code;
  }
  const [type = ""] = fieldLines(answerHeaders, "content-type");
  if (/html/i.test(type)) return undefined;
  return answer.trim().split("\n", 1)[0] || undefined;
}

interface Hop {
  readonly name: string;
  readonly result: string;
  readonly kind: "good" | "bad" | "";
  /** Whether this is the application, behind the proxies. */
  readonly isLast: boolean;
  /** The proxy had no answer from it. */
  readonly isSilent?: boolean;
}

/** The proxies that an answer came through, by its Proxy-Status (RFC 9209), and what was behind them. */
export function hopsOf({ answerHeaders, status }: Attempt): Hop[] {
  const proxies = proxyStatuses(fieldLines(answerHeaders, "proxy-status").join(", "));
  const hops = proxies.map(({ name, details }): Hop => {
    // paylink listen forwards nothing that it has not verified.
    const result = details ?? (name === "paylink" ? "verified" : "");
    return { name: name === "paylink" ? "paylink listen" : name, result, kind: "good", isLast: false };
  });
  const behind = proxies.at(-1);
  const received =
    behind?.received ?? (behind?.error === undefined ? undefined : behind.error.replaceAll("_", " "));
  if (received === undefined) return hops;
  const isGood = isAccepted({ status: behind?.received ?? status });
  return [
    ...hops,
    {
      name: "Application",
      result: String(received),
      kind: isGood ? "good" : "bad",
      isLast: true,
      isSilent: behind?.received === undefined,
    },
  ];
}

interface ProxyStatus {
  readonly name: string;
  readonly received: number | undefined;
  readonly error: string | undefined;
  readonly details: string | undefined;
}

/** The most proxies that are shown: those next to the application. */
const PROXIES = 5;

/** In the order of the way there; none of a field that is not a list. */
function proxyStatuses(field: string): ProxyStatus[] {
  try {
    return parseList(field)
      .slice(0, PROXIES)
      .flatMap((member) => {
        if (isInnerList(member)) return [];
        const [name, parameters] = member;
        const [received, error, details] = ["received-status", "error", "details"].map((key) =>
          parameters.get(key),
        );
        return {
          name: clipped(String(name)),
          received: typeof received === "number" ? received : undefined,
          error: error === undefined ? undefined : clipped(String(error)),
          details: typeof details === "string" ? clipped(details, 200) : undefined,
        };
      })
      .toReversed();
  } catch {
    return [];
  }
}

/** The tamperings that an attempt can be made with, and their buttons. */
export const OFFERED = {
  body: "Change the body",
  created: "Change the time",
  key: "Change the key",
  coverage: "Shrink the cover",
} as const satisfies Partial<Record<TamperingName, string>>;

/** Undefined for any name that is not offered. */
export const tamperingNamed = (name: string | null): Tampering | undefined =>
  name !== null && Object.hasOwn(OFFERED, name) ? TAMPERINGS.find((one) => one.name === name) : undefined;
