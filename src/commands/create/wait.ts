/** `paylink create --wait`: asks the service for the link until it is paid or closed, or the time has passed. */
import type { Context } from "../../context.ts";
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { formatRelative } from "../../domain/time.ts";
import { clockTime } from "../../render/layout.ts";
import { paintStatus } from "../../render/link.ts";
import { safeText } from "../../render/safe-text.ts";
import type { Api } from "../../service/client.ts";
import type { CreatedLink, ServiceLink } from "../../service/links.ts";
import { showServiceLink } from "../link-output.ts";

/** Milliseconds to wait without `--timeout`. */
const LONGEST_WAIT = 15 * 60_000;

/** Milliseconds between two questions, and between two to a service that answers 429 again and again. */
const INTERVAL = 2_000;
const SLOWEST = 60_000;

/** Milliseconds that one question may take: the next one may be answered. */
const EXCHANGE_TIMEOUT = 10_000;

interface Wait {
  /** The link as it was created. */
  readonly link: CreatedLink["link"];
  readonly quiet: boolean;
}

/** Throws `payment_failed` for a link that can no longer be paid, `timed_out`, and what the service refuses. */
export async function waitForPayment(context: Context, { link, quiet }: Wait): Promise<number> {
  const { out, now, pause, timeLimit } = context;
  const id = idOf(link);
  let status = statusOf(link);
  timeLimit.start(LONGEST_WAIT, "");
  timeLimit.describe(() => timedOut(id, status, timeLimit.milliseconds()));
  const api = await context.api({ exchangeTimeout: EXCHANGE_TIMEOUT, retries: false });
  out.note("Waiting for the payment. Ctrl-C ends the wait; the link stays valid.");
  let interval = INTERVAL;
  let isTold = false;
  for (;;) {
    await pause(interval);
    const answer = await askFor(id, api);
    if (answer instanceof PaylinkError) {
      if (answer.code === "overloaded") interval = slower(interval, answer);
      // The end of the time cuts the last question short, which is no failure of the service.
      if (!isTold && timeLimit.left() > 0)
        out.warn(`${answer.message} Asking again until the time has passed.`);
      isTold = true;
      continue;
    }
    interval = INTERVAL;
    const before = status;
    status = statusOf(answer.link);
    const end = ENDS.get(status);
    if (status !== before && !out.json)
      out.note(`${clockTime(now())} ${paintStatus(safeText(status), out.notePaint)}`);
    if (end !== undefined && !quiet) await showServiceLink(context, answer, quiet);
    else if (status !== before && out.json) out.data(answer.text);
    if (end === "paid") return 0;
    if (end !== undefined)
      throw new PaylinkError("payment_failed", end, { details: { link: id, linkStatus: status } });
  }
}

/** What a status means that does not change any more. */
const ENDS: ReadonlyMap<string, string> = new Map([
  ["paid", "paid"],
  ["cancelled", "The link was cancelled before it was paid."],
  ["expired", "The link expired before it was paid."],
]);

const statusOf = ({ status = "" }: { readonly status?: string | undefined }): string => status.toLowerCase();

/** The link as it is now, or a failure that the next question may not have. Throws every other one. */
async function askFor(id: string, api: Api): Promise<ServiceLink | PaylinkError> {
  try {
    return await api.showLink(id);
  } catch (error) {
    if (!(error instanceof PaylinkError) || error.exit >= 100) throw error;
    if (TRANSIENT.has(error.code)) return error;
    // The advice for this failure may be to run the command again, which would create a second link.
    const { code, message, details } = error;
    throw new PaylinkError(code, `${message} The link was created, and can still be paid.`, {
      hints: [hint`Do not create it again. To check whether it was paid: ${paylink("links", "show", id)}`],
      details,
      cause: error,
    });
  }
}

/** No answer, or 5xx; 429; no answer in time. */
const TRANSIENT: ReadonlySet<string> = new Set(["not_reached", "overloaded", "timed_out"]);

/** Milliseconds until the next question: those that the service asks for, or else twice as many as before. */
function slower(interval: number, { details: { retryAfter } }: PaylinkError): number {
  const twice = Math.min(2 * interval, SLOWEST);
  return typeof retryAfter === "number" ? Math.max(retryAfter, twice) : twice;
}

/** The service may leave out the id, but it is in the URL. */
function idOf({ id, url }: CreatedLink["link"]): string {
  const known = id ?? new URL(url).searchParams.get("r");
  if (known !== null) return known;
  throw new PaylinkError(
    "outcome_unknown",
    "The link was created, but the answer has no id of it: paylink cannot ask whether it was paid.",
    { hints: [hint`To find it: ${paylink("links", "list", "--since", "10m")}`] },
  );
}

function timedOut(id: string, status: string, timeout = LONGEST_WAIT): PaylinkError {
  const time = formatRelative(new Date(timeout), new Date(0)).replace(/^in /, "");
  return new PaylinkError("timed_out", `Timed out: the link was not paid within ${time}.`, {
    hints: [hint`The link can still be paid. To check whether it was: ${paylink("links", "show", id)}`],
    details: { link: id, linkStatus: status },
  });
}
