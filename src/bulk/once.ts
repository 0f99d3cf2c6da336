/** Sends each request once: a bulk run waits and tries again as a whole, so a put-off request is its affair at once. */
import { failureOf, refusalOf } from "../api/refusals.ts";
import { PaylinkError } from "../domain/errors.ts";
import { SendError, type Send } from "../http/exchange.ts";
import { fieldLines, type HttpReply } from "../http/message.ts";

/** Throws `overloaded` with the wait that the service asks for, `not_reached` where the request never left. */
export function sendOnce(send: Send, now: () => Date): Send {
  return async (request, options) => {
    const reply = await send(request, options).catch((error: unknown) => {
      throw error instanceof SendError && !error.sent ? failureOf(error, "creates") : error;
    });
    if (reply.status !== 429 && reply.status !== 503) return reply;
    const { message, details } = refusalOf(reply, "creates");
    throw new PaylinkError("overloaded", message, {
      details: { ...details, retryAfter: retryAfter(reply, now()) },
    });
  };
}

/** Milliseconds that `Retry-After` asks for, as seconds or as a date (RFC 9110 10.2.3). */
function retryAfter(reply: HttpReply, now: Date): number | undefined {
  const [value = ""] = fieldLines(reply.headers, "retry-after");
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = /^[A-Z][a-z]+,? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
