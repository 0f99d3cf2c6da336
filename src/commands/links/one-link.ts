/** `paylink links show`, `update` and `open`: reads or changes one link and shows it. */
import type { ServiceLink } from "../../service/links.ts";
import type { Context } from "../../context.ts";
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { messageOf } from "../../domain/system-reason.ts";
import { formatInstant } from "../../domain/time.ts";
import { renderProblem } from "../../render/error-message.ts";
import { renderLinkDetails } from "../../render/link.ts";
import { safeText } from "../../render/safe-text.ts";
import { renderServiceName } from "../../render/account.ts";

interface LinkOptions {
  /** Its id. */
  readonly link: string;
  /** Milliseconds. */
  readonly timeout: number | undefined;
  readonly quiet: boolean;
}

interface UpdateOptions extends LinkOptions {
  readonly description: string | undefined;
  readonly expires: Date | undefined;
}

export async function showLinkDetails(context: Context, options: LinkOptions): Promise<number> {
  const api = await context.api({ timeout: options.timeout });
  await print(await api.showLink(options.link), options, context);
  return 0;
}

export async function updateLink(context: Context, options: UpdateOptions): Promise<number> {
  const { link, timeout, description, expires } = options;
  const api = await context.api({ timeout });
  const changes = {
    ...(description === undefined ? {} : { description }),
    ...(expires === undefined ? {} : { expirationDate: formatInstant(expires) }),
  };
  await print(await api.updateLink(link, changes), options, context);
  return 0;
}

async function print(found: ServiceLink, { quiet }: LinkOptions, context: Context): Promise<void> {
  const { out } = context;
  const { text, json, link, violations } = found;
  for (const violation of violations) out.warn(renderProblem(violation));
  if (out.json) out.data(text);
  else if (quiet) out.data(safeText(link.url ?? link.id ?? ""));
  else {
    const [service, time] = [await context.settings(), await context.serviceTime()];
    out.data(renderLinkDetails(link, json, { paint: out.paint, time, service }));
  }
}

export async function openLink(
  context: Context,
  { link: id, timeout }: Omit<LinkOptions, "quiet">,
): Promise<number> {
  const { out } = context;
  const api = await context.api({ timeout });
  const { text, link } = await api.showLink(id);
  if (link.url === undefined)
    throw new PaylinkError("refused", `The service gives no URL for link ${id}. Nothing was opened.`, {
      hints: [hint`To see what it gives: ${paylink("links", "show", id)}`],
    });
  out.data(out.json ? text : safeText(link.url));
  out.note(renderServiceName(await context.settings(), out.notePaint));
  try {
    await context.openBrowser(link.url);
    out.note("Opened in the browser.");
  } catch (error) {
    out.warn(`The link could not be opened in a browser: ${safeText(messageOf(error))}.`);
  }
  return 0;
}
