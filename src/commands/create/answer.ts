/** Shows a created link as it was asked for: the card, the URL alone or the service's JSON, and where it goes next. */
import type { CreatedLink } from "../../api/client.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link.ts";
import { renderLink, renderWarnings } from "../../render/link-card.ts";
import { safeText } from "../../render/safe-text.ts";
import type { CreateFlags } from "./command.ts";

export async function showLink(
  { text, link, breaches }: CreatedLink,
  request: PaymentLinkRequest,
  flags: CreateFlags,
  context: Context,
): Promise<void> {
  const { out, now } = context;
  for (const warning of renderWarnings(breaches, out.notePaint)) out.note(warning);
  const card = !out.json && flags.quiet !== true;
  if (card) {
    out.data(renderLink(link, { paint: out.paint, now: now() }));
    if (request.expirationDate === undefined)
      out.note("No expiry was sent: the service gives a reusable link 3 years.");
  } else if (out.json) out.data(text);
  else if (link.url === undefined) throw withoutUrl(text);
  else out.data(safeText(link.url));
  if (link.url === undefined) return;
  if (flags.qr === true) {
    const { renderQr } = await import("../../render/qr.ts");
    if (card) out.data(renderQr(link.url, out.paint));
    else out.note(renderQr(link.url, out.notePaint));
  }
  await hand(link.url, flags, context);
}

/** The link exists, whatever becomes of it here: what fails now is a warning. */
async function hand(url: string, flags: CreateFlags, context: Context): Promise<void> {
  const { out } = context;
  const attempt = async (verb: string, done: string, action: () => Promise<void>): Promise<void> => {
    try {
      await action();
      out.note(done);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      out.note(`${out.notePaint.yellow("!")} The link could not be ${verb}: ${safeText(reason)}`);
    }
  };
  if (flags.copy === true) await attempt("copied", "Copied.", () => context.copyText(url));
  if (flags.open === true) await attempt("opened", "Opened in the browser.", () => context.openBrowser(url));
}

const withoutUrl = (body: string): PaylinkError =>
  new PaylinkError("outcome_unknown", "The service created something, but its answer holds no URL.", {
    details: { body },
  });
