/** The faults that the sandbox's API can have on purpose: for which operation, of what kind, and how often. */
import { OPERATION_NAMES, type OperationName } from "../domain/operations.ts";
import { accepted, nearest, parseChoice, refused, type Parsed } from "../values/parse-result.ts";
import { parseDuration } from "../values/time.ts";

/** What goes wrong. Nothing is done for a status and a page; everything is done for the others. */
export type FaultKind =
  /** An error in the service's own words. */
  | { readonly type: "status"; readonly status: number }
  /** 503 with the page of a gateway. */
  | { readonly type: "html" }
  /** The connection closes before the answer. */
  | { readonly type: "lost" }
  /** The answer comes later by these milliseconds. */
  | { readonly type: "late"; readonly milliseconds: number }
  /** The answer is compressed, unasked. */
  | { readonly type: "gzip" };

export interface ApiFault {
  readonly operation: OperationName;
  readonly kind: FaultKind;
  /** As it is written: `429`, `late=12s`. */
  readonly words: string;
  /** How often it applies; null for every time. */
  readonly count: number | null;
}

/** A choice of kinds, for people to pick from. */
export const FAULT_EXAMPLES = ["lost", "late=12s", "429", "503", "500", "html", "gzip"] as const;

const FAULT_KINDS = ["html", "lost", "gzip"] as const;
const MUST_BE = "must be a status of 400 to 599, html, lost, late=<duration> or gzip";

/** `create=lost:1`: the operation, the fault, and after a colon how often it applies. */
export function parseApiFault(text: string): Parsed<ApiFault> {
  const [, name = "", words = "", times] = /^([^=]*)=(.*?)(?::(\d+))?$/.exec(text.trim()) ?? [];
  if (words === "") return refused("must be <operation>=<fault>, such as create=lost:1");
  const operation = parseChoice(OPERATION_NAMES, name);
  if (!operation.ok) {
    const near =
      operation.instead && `${operation.instead}=${words}${times === undefined ? "" : `:${times}`}`;
    return refused(`must name one of ${OPERATION_NAMES.join(", ")} before "="`, near);
  }
  const count = times === undefined ? null : Number(times);
  if (count === 0 || (count !== null && !Number.isSafeInteger(count)))
    return refused("must have a count of 1 or more after the colon");
  const kind = parseKind(words);
  if (!kind.ok) return refused(kind.message, kind.instead && `${name}=${kind.instead}`);
  return accepted({ operation: operation.value, kind: kind.value, words, count });
}

function parseKind(words: string): Parsed<FaultKind> {
  if (/^[45]\d\d$/.test(words)) return accepted({ type: "status", status: Number(words) });
  const [, delay] = /^late=(.+)$/.exec(words) ?? [];
  if (delay !== undefined) {
    const parsed = parseDuration(delay);
    return parsed.ok ? accepted({ type: "late", milliseconds: parsed.value.milliseconds }) : parsed;
  }
  const type = FAULT_KINDS.find((one) => one === words);
  return type === undefined
    ? refused(`${MUST_BE}, after "="`, nearest(words, FAULT_KINDS))
    : accepted({ type });
}
