/** Sends each request once: a bulk run waits and tries again as a whole, so a put-off request is its affair at once. */
import { failureOf, refusalOf } from "../api/failures.ts";
import { retryAfter } from "../api/retries.ts";
import { PaylinkError } from "../domain/errors.ts";
import { SendError, type Send } from "../http/exchange.ts";

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
