/** Prints one link of the service, as `links show` does. */
import type { Context } from "../context.ts";
import { renderProblem } from "../render/error-message.ts";
import { renderLinkDetails } from "../render/link.ts";
import { safeText } from "../render/safe-text.ts";
import type { ServiceLink } from "../service/links.ts";

/** Every field and date, the URL alone with `--quiet`, or the service's own JSON. */
export async function showServiceLink(
  { out, settings, now }: Pick<Context, "out" | "settings" | "now">,
  { text, json, link, violations }: ServiceLink,
  quiet: boolean,
): Promise<void> {
  for (const violation of violations) out.warn(renderProblem(violation));
  if (out.json) out.data(text);
  else if (quiet) out.data(safeText(link.url ?? link.id ?? ""));
  else out.data(renderLinkDetails(link, json, { paint: out.paint, now: now(), service: await settings() }));
}
