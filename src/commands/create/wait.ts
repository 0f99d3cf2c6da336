/** `paylink create --wait`: asks the service for the link until it is paid or closed, or the time has passed. */
import type { Context } from "../../context.ts";
import { type FailureCode, PaylinkError } from "../../domain/errors.ts";
import { hint, type Hint, paylink } from "../../domain/hint.ts";
import { formatDuration } from "../../values/time.ts";
import { clockTime, formatLocal } from "../../render/layout.ts";
import { paintStatus } from "../../render/link.ts";
import { safeText } from "../../render/safe-text.ts";
import { likeliestLinks } from "../../service/advice.ts";
import type { Api } from "../../service/client.ts";
import { linkEnd, type LinkEnd } from "../../orders/link-end.ts";
import { type CreatedLink, linkId, type ServiceLink } from "../../service/links.ts";
import { showServiceLink } from "../link-output.ts";

/** Milliseconds to wait without `--timeout`. */
const DEFAULT_WAIT = 15 * 60_000;

/** Milliseconds between two requests, and the most between two if the service keeps answering 429. */
const INTERVAL = 2_000;
const SLOWEST = 60_000;

/** Milliseconds that one request may take: the next one may be answered. */
const EXCHANGE_TIMEOUT = 10_000;

interface PaymentWait {
  readonly created: CreatedLink;
  readonly quiet: boolean;
}

/** Throws `payment_failed` for a link that can no longer be paid, `timed_out`, and what the service refuses. */
export async function waitForPayment(context: Context, { created, quiet }: PaymentWait): Promise<number> {
  const { out, now, pause, timeLimit } = context;
  const id = requiredId(created);
  const seen: LastAnswer = { status: linkStatus(created.link), at: undefined, failure: undefined };
  timeLimit.start(DEFAULT_WAIT, "");
  timeLimit.describe(() => waitTimedOut(id, seen, timeLimit.milliseconds));
  timeLimit.graceAfterSuspension(EXCHANGE_TIMEOUT);
  const api = await context.api({ exchangeTimeout: EXCHANGE_TIMEOUT, retries: false });
  out.note("Waiting for the payment. Ctrl-C ends the wait; the link stays valid.");
  let interval = INTERVAL;
  let isTold = false;
  let missing = 0;
  for (;;) {
    await pause(interval);
    const answer = await askForLink(id, api);
    if (answer instanceof PaylinkError) {
      missing = answer.details["status"] === 404 ? missing + 1 : 0;
      if (missing === MOST_MISSING) throw notKnown(id, answer);
      if (answer.code === "overloaded") interval = slower(interval, answer);
      // The time limit cuts the last request short, which is not a failure of the service.
      if (timeLimit.left() <= 0) continue;
      if (!isTold) out.warn(`${answer.message} paylink keeps asking until the time is up.`);
      [isTold, seen.failure] = [true, answer];
      continue;
    }
    [interval, missing, seen.failure, seen.at] = [INTERVAL, 0, undefined, now()];
    const before = seen.status;
    seen.status = linkStatus(answer.link);
    const end = linkEnd(answer.link, now());
    if (seen.status !== before)
      out.note(
        `${out.live ? clockTime(now()) : formatLocal(now())} ${paintStatus(safeText(seen.status), out.notePaint)}`,
      );
    if (end !== undefined && !quiet) await showServiceLink(context, answer, quiet);
    else if (seen.status !== before && out.json) out.data(answer.text);
    if (end === "paid") return 0;
    if (end !== undefined)
      throw new PaylinkError("payment_failed", ENDED_UNPAID[end], {
        details: { link: id, linkStatus: seen.status },
      });
    if (timeLimit.isInGrace) throw waitTimedOut(id, seen, timeLimit.milliseconds);
  }
}

const ENDED_UNPAID = {
  cancelled: "The link was cancelled before it was paid.",
  expired: "The link expired before it was paid.",
} as const satisfies Record<Exclude<LinkEnd, "paid">, string>;

const linkStatus = ({ status = "" }: { readonly status?: string | undefined }): string =>
  status.toLowerCase();

/** The link as it is now, or a failure that the next request may not have. Throws every other failure. */
async function askForLink(id: string, api: Api): Promise<ServiceLink | PaylinkError> {
  try {
    return await api.showLink(id);
  } catch (error) {
    if (!(error instanceof PaylinkError) || error.isInterruption) throw error;
    if (TRANSIENT.has(error.code)) return error;
    throw notKnown(id, error);
  }
}

/** The advice for this failure may be to run the command again, which would create a second link. */
const notKnown = (id: string, cause: PaylinkError): PaylinkError =>
  cause.with({
    message: `${cause.message} The link was created. It is not known whether it has been paid since.`,
    effect: undefined,
    problems: [],
    hints: [hint`Do not create it again. ${checkIt(id)}`],
  });

const checkIt = (id: string): Hint => hint`To check whether it was paid: ${paylink`links show ${id}`}`;

/** A gateway may answer so for a while: no usable answer, a refusal, a redirect, an error in a 200, or another link. */
const TRANSIENT: ReadonlySet<FailureCode> = new Set([
  "not_reached",
  "overloaded",
  "timed_out",
  "refused",
  "redirected",
  "outcome_unknown",
]);

/** After this many 404 in a row, the service does not know the link. */
const MOST_MISSING = 4;

/** Milliseconds until the next request: what the service asks for, or else twice as many as before. */
function slower(interval: number, { details: { retryAfter } }: PaylinkError): number {
  const twice = Math.min(2 * interval, SLOWEST);
  return typeof retryAfter === "number" ? Math.max(retryAfter, twice) : twice;
}

function requiredId({ link, about }: CreatedLink): string {
  const known = linkId(link);
  if (known !== undefined) return known;
  throw new PaylinkError(
    "outcome_unknown",
    "The link was created, but the answer does not contain its id, so paylink cannot ask whether it was paid.",
    { hints: [hint`To find it: ${likeliestLinks(about)}`] },
  );
}

interface LastAnswer {
  /** The last status that the service gave. */
  status: string;
  /** When it did, since the link was created. */
  at: Date | undefined;
  /** Why the last request has no usable answer. */
  failure: PaylinkError | undefined;
}

function waitTimedOut(id: string, seen: LastAnswer, timeout = DEFAULT_WAIT): PaylinkError {
  const time = formatDuration(timeout);
  return new PaylinkError("timed_out", `Timed out after ${time}${whatIsKnown(seen)}`, {
    hints: [hint`Do not create it again. ${checkIt(id)}`],
    details: { link: id, linkStatus: seen.status },
  });
}

function whatIsKnown({ status, at, failure }: LastAnswer): string {
  if (failure !== undefined)
    return `. It is not known whether the link was paid, because the service gave no usable answer at the end. ${failure.message}`;
  return at === undefined
    ? ". It is not known whether the link was paid, because the service was not asked in that time."
    : `: the link was not paid when the service last answered, at ${formatLocal(at)}. Its last known status is "${status}".`;
}
