/** The clock of a service beside this one: links have its dates, so advice to look for one goes by whichever is behind. */
import type { Send } from "../http/exchange.ts";
import { fieldLines } from "../http/message.ts";

export interface ServiceClock {
  /** The same `Send`, which notes the date of each answer. */
  readonly send: Send;
  /** The time by the clock that is behind. */
  readonly earliest: () => Date;
}

export function watchClock(send: Send, now: () => Date): ServiceClock {
  let behind = 0;
  return {
    send: async (request, options) => {
      const reply = await send(request, options);
      const [date = ""] = fieldLines(reply.headers, "date");
      const answered = Date.parse(date);
      if (!Number.isNaN(answered)) behind = Math.max(behind, now().getTime() - answered);
      return reply;
    },
    earliest: () => new Date(now().getTime() - behind),
  };
}
