/** A reconciliation as text: what each finding means for the money, what to do next, and the summary. */
import { formatCount, linesText, plural } from "../values/plural.ts";
import { type CommandLine, paylink } from "../domain/hint.ts";
import { groupedAmount, type Sum } from "../domain/money.ts";
import { capitalized } from "../values/sentence.ts";
import { outcomeName } from "../domain/outcome.ts";
import { FATES } from "../events/event-standing-words.ts";
import type { Books } from "../reconcile/books.ts";
import { standingText, sumsText } from "../orders/standing-words.ts";
import { type Finding, type FindingName, FINDINGS, isDifference } from "../reconcile/findings.ts";
import type { Counted, Summary } from "../reconcile/summary.ts";
import type { OrderVerdict } from "../reconcile/timeline.ts";
import { shortKey } from "../signatures/thumbprint.ts";
import { renderSums } from "./bulk.ts";
import { formatLocal } from "./layout.ts";

/** What a finding means, as sentences. */
export function findingText(finding: Finding): string {
  const words = findingWords(finding);
  // Nobody's order number is changed.
  return finding.orderNumber === null ? capitalized(words) : words;
}

function findingWords(finding: Finding): string {
  const { orderNumber, link, paidAt } = finding;
  const order = orderNumber ?? `the link ${link ?? ""}`.trim();
  const money = finding.money === null ? "an amount that is not known" : moneyText(finding.money);
  const at = paidAt === null ? "" : ` at ${formatLocal(new Date(paidAt))}`;
  const paid = `The service says ${order} was paid, ${money}${at}`;
  switch (finding.finding) {
    case "missed":
      if (finding.why === "one of several")
        return `Two or more links of ${order} are paid, but no webhook for ${money} of that arrived here.`;
      if (finding.why === "other key")
        return `${paid}; its webhook was verified by the key ${shortKey(finding.key ?? "")}, which is not a key of this account, so it does not count here. If it is an earlier key of this account, name both keys with --key.`;
      if (finding.why === "only others")
        return `${paid}; the last webhook of it that arrived here says ${outcomeName(finding.other ?? "UNCLEAR")}.`;
      return `${paid}; no webhook for it arrived here.`;
    case "refused":
      return `${paid}; a webhook that names it was rejected at ${formatLocal(new Date(finding.refused.receivedAt))}: ${finding.refused.code}. The body of that webhook is not verified. Once the key is right, accept it.`;
    case "undelivered":
      return `${order} was paid, ${money}, and your application has not accepted it: ${FATES[finding.state].next}.`;
    case "differs":
      if (finding.why === "unclear")
        return link === null
          ? `A webhook of ${order} arrived that does not say clearly whether its payment was approved. No paid link has this order number.`
          : `${paid}; its webhook arrived, but does not say clearly whether the payment was approved.`;
      return finding.why === "books"
        ? booksText(order, finding)
        : finding.why === "ended"
          ? `A webhook says that ${order} was paid, ${sumsText(finding.found)}, and the service does not: its link has ended unpaid.`
          : `${order} asks for ${sumsText(finding.expected)}; its webhooks say ${sumsText(finding.found)}.`;
    case "twice":
      if (finding.why === "books")
        return `Your books have ${order} ${finding.count} times: ${money} too much.`;
      return finding.why === "links"
        ? `${finding.count} links of ${order} are paid: ${money} more than one of them. Refund it unless the customer wanted both.`
        : `${finding.count} payments of ${order} were approved: ${money} too much. Refund it unless the customer wanted both.`;
    case "payable":
      return `${order}: ${standingText(finding.standing)}. Cancel that link: the customer can pay again.`;
    case "not known":
      return finding.why === "no order number"
        ? `${paid}. It has no order number, and no webhook fits it alone by amount, currency and time, so it is not known whether its webhook arrived.`
        : `${paid}; no webhook for it is stored here. There was no room to keep all requests that were refused before ${formatLocal(new Date(finding.until ?? 0))}, so it is not known whether one of them was its webhook.`;
    case "not booked":
      return `${order} was paid, ${money}${at}; your books do not have it.`;
    case "booked only":
      return `Your books have ${order}, ${money} (${linesText(finding.lines)}); ${
        finding.key === undefined
          ? "there is no paid link and no webhook for it"
          : `there is no paid link for it, and its webhook was verified by the key ${shortKey(finding.key)}, which is not a key of this account`
      }.`;
    case "unmatched":
      return unmatchedText(finding, { order, money, paid });
  }
}

function booksText(
  order: string,
  { expected, found, paidIn, paidBack }: Extract<Finding, { finding: "differs"; why: "books" }>,
): string {
  const paid = `${order} was paid, ${sumsText(expected)}; your books have`;
  return paidBack.length === 0
    ? `${paid} ${sumsText(found)}.`
    : `${paid} ${paidIn.length === 0 ? "no payment" : sumsText(paidIn)} and a refund of ${sumsText(paidBack)}, ${sumsText(found)} in all. The service does not say what was refunded.`;
}

/** Which order of the other side it may be. */
export const suggestionText = ({ finding }: Finding, near: string): string =>
  finding === "booked only"
    ? `${near} was paid and is not in your books: it may be this order.`
    : `They have ${near}, which was not paid: it may be this order.`;

/** Whether it is about a payment without a known webhook: then the callback addresses matter. */
export const hasNoWebhook = (finding: Finding): boolean =>
  finding.finding === "not known" || (finding.finding === "missed" && finding.why === "nothing arrived");

/** What is known of where a webhook that never arrived was sent to. `callback` is where webhooks are asked for now. */
export const callbackText = (callback: string | undefined): string =>
  callback === undefined
    ? "The service does not say which callback address a link had. This profile has none now, and no webhook is sent for a link without one."
    : `The service does not say which callback address a link had. This profile's address is ${callback} now.`;

interface Words {
  readonly order: string;
  readonly money: string;
  readonly paid: string;
}

function unmatchedText(
  finding: Extract<Finding, { finding: "unmatched" }>,
  { order, money, paid }: Words,
): string {
  switch (finding.why) {
    case "not in the books":
      return `${order} was paid, ${money}. It has no order number, so it cannot be found in your books.`;
    case "before the store":
      return `${paid}, before the time that this event store covers, so it is not known whether its webhook arrived.`;
    case "part":
      return `Part of ${order} was paid, ${money}; the rest is not paid yet.`;
    case "verified card":
      return `A payment of ${order}, ${money}, arrived. Its link asked for nothing: it verified the card.`;
    case "no link":
      return `A payment of ${order}, ${money}, arrived, but no link of this terminal that was paid in the period has this order number.`;
  }
}

/** The command that helps next; undefined where there is nothing to do. */
export function nextStep(finding: Finding): CommandLine | undefined {
  const { orderNumber, link, uti } = finding;
  const timeline = orderNumber === null ? undefined : paylink`reconcile ${orderNumber}`;
  switch (finding.finding) {
    case "missed":
      return link === null || !hasNoWebhook(finding) ? timeline : paylink`links show ${link}`;
    case "refused":
      return paylink`events accept ${finding.refused.id}`;
    case "undelivered":
      return paylink`events retry ${finding.event}`;
    case "payable":
      return link === null ? timeline : paylink`links cancel ${link}`;
    case "unmatched":
      return undefined;
    case "not known":
      return link === null ? timeline : paylink`links show ${link}`;
    case "differs":
    case "twice":
    case "not booked":
    case "booked only":
      return timeline ?? (uti === null ? undefined : paylink`events show ${uti}`);
  }
}

const moneyText = ({ amount, currency }: Sum): string => groupedAmount(amount, currency).trim();

const countAndSums = ({ count: number, sums }: Counted): string =>
  sums.length === 0 ? formatCount(number) : `${formatCount(number)}, ${renderSums(sums)}`;

/** How the books were read, and what of them is no order. */
export function booksRemarks({ remarks, unnamed }: Pick<Books, "remarks" | "unnamed">): readonly string[] {
  if (unnamed.count === 0) return remarks;
  return [
    ...remarks,
    `${plural(unnamed.count, "line of the books has", "lines of the books have")} no order number or no amount: ${unnamed.sums.length === 0 ? "nothing" : renderSums(unnamed.sums)} in all.`,
  ];
}

/** How many links were paid, and what became of them: one line, of which people read the beginning. */
export function summaryText({ paid, agree, findings }: Summary): string {
  const links = plural(paid.count, "paid link");
  const total = paid.sums.length === 0 ? links : `${links}, ${renderSums(paid.sums)}`;
  const found = namedFindings(findings).map(([name, one]) => findingCount(name, one));
  const all = [plural(agree.count, "agrees", "agree"), ...found];
  return `${total}: ${all.join("; ")}`;
}

const namedFindings = (findings: Summary["findings"]) =>
  FINDINGS.flatMap((name) => {
    const counted = findings[name];
    return counted === undefined ? [] : [[name, counted] as const];
  });

/** What does not agree, without what does. */
export const differencesText = ({ findings }: Pick<Summary, "findings">): string =>
  `Records differ: ${namedFindings(findings)
    .flatMap(([name, one]) => (isDifference(name) ? [findingCount(name, one)] : []))
    .join("; ")}`;

/** `2 missed, EUR 45.00` */
function findingCount(name: string, { count: number, sums }: Counted): string {
  return sums.length === 0
    ? `${formatCount(number)} ${name}`
    : `${formatCount(number)} ${name}, ${renderSums(sums)}`;
}

/** Why nothing can be found in the store, as the first line. */
export const NOTHING_RECEIVED = {
  "nothing was ever received": "Nothing was ever received into this event store.",
  "other keys alone":
    "This event store has webhooks of other keys alone, and none that a key of this run has verified.",
} as const;

/** The line above the findings of a kind. */
export const headingText = (name: FindingName, found: Counted): string => `${name}: ${countAndSums(found)}`;

/** What is known of reusable links; undefined without a payment of one. */
export const reusableText = ({ reusable }: Summary): string | undefined =>
  reusable.count === 0
    ? undefined
    : `Reusable links: ${plural(reusable.count, "payment")}, ${renderSums(reusable.sums)}, arrived. The service does not say how often such a link was paid, so a missed payment cannot be found.`;

/** The verdict on an order, in a few sentences: how it stands, and what a person should look at. */
export function verdictText(verdict: OrderVerdict): string {
  const { order, findings, hasLink, isRefused, ended } = verdict;
  const isOpen = order.standing === "unpaid" || order.standing === "in part";
  return [
    `${headText(verdict)}.`,
    ...findings.flatMap(findingRemarks),
    ...(isOpen && ended !== undefined ? [LINK_ENDED[ended]] : []),
    ...(hasLink ? [] : ["The service lists no link for it."]),
    ...(order.standing === "unpaid" && isRefused
      ? ["A rejected webhook names it, but its content is not verified."]
      : []),
  ].join(" ");
}

const LINK_ENDED = { cancelled: "Its link was cancelled.", expired: "Its link has expired." } as const;

/** How it stands, and when the application accepted the last payment. */
function headText({ text, order, last, findings }: OrderVerdict): string {
  const isTold = order.standing === "twice" || findings.some(({ finding }) => finding === "undelivered");
  if (last === undefined || isTold) return text;
  return last.acceptedAt === undefined
    ? `${text}; the webhook arrived at ${formatLocal(last.arrivedAt)}, and was not forwarded`
    : `${text}; your application accepted it at ${formatLocal(last.acceptedAt)}`;
}

/** What the standing of the order does not say. */
function findingRemarks(finding: Finding): string[] {
  switch (finding.finding) {
    case "payable":
      return ["Cancel that link: the customer can pay again."];
    case "twice":
      return ["Refund it unless the customer wanted both."];
    case "unmatched":
      return finding.why === "before the store" ? [findingText(finding)] : [];
    case "missed":
    case "refused":
    case "undelivered":
    case "differs":
    case "not booked":
    case "booked only":
    case "not known":
      return [findingText(finding)];
  }
}
