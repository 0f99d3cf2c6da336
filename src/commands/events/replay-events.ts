/** `paylink events replay`: sends events to the application again, with their original bytes and headers. */
import { plural } from "../../values/plural.ts";
import { isSuccess } from "../../http/message.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import { targetOf } from "../../receiver/outcome-routes.ts";
import { fitLines } from "../../render/layout.ts";
import { renderForward } from "../../render/received-webhook.ts";
import { safeText } from "../../render/safe-text.ts";
import { otherKeyWords } from "./other-keys.ts";
import { nothingAnswers, openReplay, type ReplayValues, untargetedWords } from "./sending.ts";

export async function replayEvents(context: Context, values: ReplayValues): Promise<number> {
  const { out, signal } = context;
  const { to: routes, quiet } = values;
  const targets = routes.map(({ url }) => url.href).join(" and ");
  const { events, others, send } = await openReplay(context, values);
  let [sent, failed, unreached, skipped] = [0, 0, 0, 0];
  let lastCause: string | undefined;
  for await (const event of events) {
    signal.throwIfAborted();
    const url = targetOf(routes, outcomeOf(event.content.record));
    if (url === undefined) {
      skipped += 1;
      continue;
    }
    const { result, forward, cause } = await send(event, url);
    sent += 1;
    if (!isSuccess(forward.status)) failed += 1;
    if (result.kind === "notReached") unreached += 1;
    lastCause = cause;
    const { target, status, ms, detail } = forward;
    const name = event.uti || event.id;
    const line = { type: "forward", id: event.id, uti: event.uti, target, status, ms, detail, hint: cause };
    out.line(line, () =>
      quiet
        ? safeText(name)
        : fitLines(renderForward(name, forward, out.paint, undefined, cause), out.lineWidth),
    );
    signal.throwIfAborted();
  }
  if (others > 0) out.warn(otherKeyWords(others));
  if (skipped > 0) out.warn(untargetedWords(skipped));
  if (failed > 0 && failed === unreached)
    throw nothingAnswers(targets, `${failed} of ${plural(sent, "event")} not delivered`, lastCause);
  if (failed > 0)
    throw new PaylinkError(
      "not_accepted",
      `${targets} did not accept ${failed} of ${plural(sent, "event")}.`,
    );
  if (!quiet)
    out.note(
      sent + skipped === 0
        ? "No event matches. Nothing was sent."
        : `Replayed ${plural(sent, "event")} to ${targets}`,
    );
  return 0;
}
