/** Shows a created link: the card, the URL alone or the service's JSON; then copies or opens it. */
import type { CreatedLink } from "../../service/links.ts";
import type { Context } from "../../context.ts";
import { messageOf } from "../../domain/system-reason.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link.ts";
import { renderProblem } from "../../render/error-message.ts";
import { renderLink } from "../../render/link.ts";
import { safeText } from "../../render/safe-text.ts";
import type { CreateOptions } from "./options.ts";

type Display = Pick<CreateOptions, "settings" | "time" | "quiet" | "qr" | "open" | "copy">;

export async function showLink(
  { text, link, violations }: CreatedLink,
  request: PaymentLinkRequest,
  display: Display,
  context: Context,
): Promise<void> {
  const { out } = context;
  for (const violation of violations) out.warn(renderProblem(violation));
  const card = !out.json && !display.quiet;
  if (card) {
    out.data(renderLink(link, { paint: out.paint, time: display.time, service: display.settings }));
    if (request.expirationDate === undefined)
      out.note("No expiry was sent: the service gives a reusable link 3 years.");
  } else if (out.json) out.data(text);
  else out.data(safeText(link.url));
  if (display.qr === true) {
    const { renderQr } = await import("../../render/qr.ts");
    if (card) out.data(renderQr(link.url, out.paint));
    else out.note(renderQr(link.url, out.notePaint));
  }
  await copyAndOpen(link.url, display, context);
}

/** The link exists already, so a failure here is only a warning. */
async function copyAndOpen(url: string, { copy, open }: Display, context: Context): Promise<void> {
  const { out } = context;
  const attempt = async (verb: string, done: string, action: () => Promise<void>): Promise<void> => {
    try {
      await action();
      out.note(done);
    } catch (error) {
      out.warn(`The link was created, but could not be ${verb}: ${safeText(messageOf(error))}.`);
    }
  };
  if (copy) await attempt("copied", "Copied.", () => context.copyText(url));
  if (open) await attempt("opened", "Opened in the browser.", () => context.openBrowser(url));
}
