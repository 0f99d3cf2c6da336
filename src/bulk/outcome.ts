/** What became of a row: its status, its link, and why, in words. */
import { wordFor } from "../values/plural.ts";
import type { LinkStatus } from "../domain/payment-link-reply.ts";
import type { Attempt } from "../store/sent-rows.ts";
import type { PlannedRow, RowState } from "./plan.ts";
import { knownPart } from "./row.ts";

/** With `unknown`, the link may or may not exist. The state of a link is that of one that was sent before. */
export type Status =
  | "created"
  | "refused"
  | "not_reached"
  | "unknown"
  | "not_sent"
  | "invalid"
  | "skipped"
  | LinkStatus;

export interface RowOutcome {
  readonly status: Status;
  readonly id?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly error?: string | null | undefined;
  /** The link was there before this run, or another run has made it. */
  readonly isEarlier?: boolean;
  /** It was due, or `--again` was meant for it, and it is not sent because of another link. */
  readonly isLeft?: boolean;
  /** Its earlier links can no longer be paid, and no new one was made. */
  readonly isWithoutLink?: boolean;
}

export const INTERRUPTED = "an earlier run ended during this request; the link may exist";
export const ELSEWHERE = "another run was still sending it when this one ended; the link may exist";
const ABSENT = "the service has no link of it now";

/** What became of a row that this run has not sent. */
export function earlierOutcome({ state, isDue, isLeft, link, others }: PlannedRow): RowOutcome {
  if (state === "invalid" || state === "skipped") return { status: state };
  if (link === undefined || isDue) return { status: "not_sent", ...(link && linkParts(link)) };
  const left = isLeft ? { isLeft, error: whyLeft(state, link, others) } : {};
  if (link.state === "created")
    return {
      status: link.status ?? "created",
      ...linkParts(link),
      isEarlier: true,
      ...namedLinks(others),
      ...left,
    };
  const error = link.error ?? (link.state === "in flight" ? ELSEWHERE : INTERRUPTED);
  const what = link.state === "absent" ? `${error}; ${ABSENT}` : error;
  return { status: "unknown", error: what, isEarlier: true, ...left };
}

const linkParts = ({ id, url }: Attempt): Pick<Attempt, "id" | "url"> => ({ id, url });

const namedLinks = (others: readonly Attempt[]): Pick<RowOutcome, "error"> =>
  others.length === 0 ? {} : { error: canBePaid(others) };

/** `Another link of this order can still be paid: L7 (EUR 18.00)` */
export const canBePaid = (others: readonly Attempt[]): string =>
  `${wordFor(others.length, "Another link", "Other links")} of this order can still be paid: ${others.map(linkWords).join(", ")}`;

/** `L7 (EUR 18.00)` */
export function linkWords({ id, url, payment }: Attempt): string {
  const asked = payment === undefined ? "" : ` (${knownPart(payment)})`;
  return `${id ?? url ?? ""}${asked}`;
}

/** Why `--again` leaves a row. */
function whyLeft(state: RowState, link: Attempt, others: readonly Attempt[]): string {
  if (state === "unknown")
    return "The service cannot say whether it has the link, or has another link of this order: check there.";
  if (state === "paid") return `Its link ${linkWords(link)} is paid, so no new link was created.`;
  if (state === "sent")
    return others.length === 0
      ? `Its link ${linkWords(link)} ${payableWords(link)}, so no new link was created.`
      : `Its link ${linkWords(link)} is as the list says. ${canBePaid(others)}.`;
  return link.status === "cancelled" || link.status === "expired"
    ? `It asks for another payment than its ${link.status} link ${linkWords(link)}: --again changed sends it.`
    : `Its link ${linkWords(link)} ${payableWords(link)}, and asks for another payment: --again changed cancels it first.`;
}

/** Only the service knows the status of a link. */
const payableWords = ({ status }: Attempt): string =>
  status === undefined ? "may still be payable" : "can still be paid";
