/** The next steps after a failure of a request to the service: for each by what it asked for, and what was answered. */
import { type CommandLine, hint, paylink, type Hint } from "../domain/hint.ts";
import type { ChangingEffect, ServiceEffect } from "../domain/operations.ts";
import { formatMinute, formatRelative, UNITS } from "../values/time.ts";

/** What a request was about, and where it went. The sender fills it in, so that advised commands look in the same place. */
export interface About {
  /** The id of the link that the request names. */
  readonly link?: string;
  readonly terminalId?: string | undefined;
  /** The order number. */
  readonly invoiceId?: string | undefined;
  /** When the request left, by this clock or by that of the service, whichever is behind. */
  readonly sent?: Date;
}

/** What a failure of the request says to scripts. */
export const aboutDetails = ({ link }: About): Pick<About, "link"> => (link === undefined ? {} : { link });

/**
 * The links that may be the one that a request made. An order number finds it among those of a day; without one, the period is short,
 * so that few others are listed.
 */
export function likeliestLinks({ terminalId, invoiceId, sent }: About, margin?: number): CommandLine {
  const before = margin ?? (invoiceId === undefined ? 15 * UNITS.m : UNITS.d);
  const since = sent && formatMinute(new Date(sent.getTime() - before));
  return paylink`links list ${{ "--terminal-id": terminalId, "--invoice-id": invoiceId, "--since": since }}`;
}

type Advice = (about: About) => readonly Hint[];

const dashboard: Advice = () => [hint`Check the sandbox's dashboard before you run the command again.`];
const seeIt: Advice = ({ link = "" }) => [hint`To see it: ${paylink`links show ${link}`}`];

const UNKNOWN_ADVICE: Readonly<Record<ChangingEffect, Advice>> = {
  create: (about) => [hint`Look for it before you create it again: ${likeliestLinks(about)}`],
  update: seeIt,
  cancel: seeIt,
  pay: dashboard,
  control: dashboard,
};

/** The next steps after `outcome_unknown`. */
export const whenUnknown = (effect: ChangingEffect, about: About): readonly Hint[] =>
  UNKNOWN_ADVICE[effect](about);

const CHECK_TERMINAL = hint`Check the terminal: ${paylink`config set terminalId <id>`}`;
const CHECK_SCOPE = hint`Check the scope of the token: ${paylink`config set tokenScope <scope>`}`;
const CHECK_ADDRESS = hint`Check the address of the service: ${paylink`config set baseUrl <url>`}`;
const CHECK_TRANSACTIONS = hint`Check the address: ${paylink`config set transactionUrl <path or URL with {uti}>`}`;

/** For an answer that is not what the address should give. */
export const checkAddress = (effect: ServiceEffect): Hint =>
  effect === "transaction" ? CHECK_TRANSACTIONS : CHECK_ADDRESS;

/** The next steps where nothing answered, unless the failure shows a better one. */
export const NOT_REACHED: Readonly<Partial<Record<ServiceEffect, Hint>>> = {
  pay: hint`Is the sandbox running? ${paylink`sandbox`}`,
};

/** The next steps after a refusal, by its status; `other` is for each other 4xx. Without any, those of the code are right. */
interface Refusals {
  readonly 403?: Advice;
  readonly 404?: Advice;
  readonly 409?: Advice;
  readonly other?: Advice;
}

const notPermitted: Advice = () => [CHECK_TERMINAL, CHECK_SCOPE];
const noAddress: Advice = () => [CHECK_ADDRESS];
const noLink: Advice = ({ link = "" }) => [
  hint`The service has no link ${link}, or the account may not see it. To list the links: ${paylink`links list`}`,
];
const seeLink: Advice = ({ link = "" }) => [hint`To see the link: ${paylink`links show ${link}`}`];
const none: Advice = () => [];

const REFUSED: Readonly<Record<ServiceEffect, Refusals>> = {
  token: {},
  create: {
    403: notPermitted,
    404: noAddress,
    // A gateway that sends a request twice passes on the second answer, which refuses what the first one created.
    409: (about) => [
      hint`If the order number is already used, look at its link first: ${likeliestLinks(about, UNITS.y)}`,
    ],
  },
  details: { 403: notPermitted, 404: noLink },
  list: { 403: notPermitted, 404: noAddress, other: () => [CHECK_TERMINAL] },
  update: { 403: notPermitted, 404: noLink, other: seeLink },
  cancel: { 403: notPermitted, 404: noLink, other: seeLink },
  transaction: {
    403: notPermitted,
    404: () => [hint`Check the transaction id (uti).`, CHECK_TRANSACTIONS],
  },
  pay: { 403: none, other: none },
  control: {},
  payments: { 404: noLink },
};

/** The next steps after a refusal; undefined if those of the code are right. */
export function refusalHints(
  effect: ServiceEffect,
  status: number,
  about: About,
): readonly Hint[] | undefined {
  const refusals = REFUSED[effect];
  const own = status === 403 || status === 404 || status === 409 ? refusals[status] : undefined;
  return (own ?? refusals.other)?.(about);
}

/** How long an overloaded service asks to wait, in milliseconds: a run that retries by itself reads it. */
export interface WaitDetails {
  readonly retryAfter?: number;
}

/** The longest wait that is named, in milliseconds: nobody waits for longer. */
const LONGEST_NAMED_WAIT = 365 * 86_400_000;

/** The next step after `overloaded`; undefined if the service does not say how long to wait. */
export function waitHints({ retryAfter: wait = Infinity }: WaitDetails): readonly Hint[] | undefined {
  if (wait > LONGEST_NAMED_WAIT) return undefined;
  const when = formatRelative(new Date(wait), new Date(0));
  return [hint`The service asks you to wait: run the command again ${when}.`];
}
