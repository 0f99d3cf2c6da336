/** `paylink links cancel`: cancels each link, and says which ones the service refused to cancel. */
import type { Api } from "../../service/client.ts";
import type { Context } from "../../context.ts";
import { hint, paylink, PaylinkError, type Problem } from "../../domain/errors.ts";
import { renderProblem } from "../../render/error-message.ts";
import { paintStatus } from "../../render/link.ts";
import { safeText } from "../../render/safe-text.ts";
import { renderServiceName } from "../../render/account.ts";
import { isConfirmed } from "../confirm.ts";

interface CancelOptions {
  /** Their ids. */
  readonly links: readonly string[];
  /** Milliseconds. */
  readonly timeout: number | undefined;
  readonly quiet: boolean;
}

export async function cancelLinks(context: Context, options: CancelOptions): Promise<number> {
  const { out } = context;
  const { links, quiet, timeout } = options;
  const ids = [...new Set(links)];
  const api = await context.api({ timeout });
  const service = await context.settings();
  const what = ids.length === 1 ? `link ${safeText(ids.join())}` : `${ids.length} links`;
  if (!(await isConfirmed(context, `Cancel ${what}? (${renderServiceName(service, out.notePaint)})`))) {
    out.note("Nothing was cancelled.");
    return 0;
  }
  const failures = await cancelEach(api, { ids, quiet }, context);
  if (!quiet) out.note(renderServiceName(service, out.notePaint));
  const [first] = failures.values();
  if (first !== undefined) throw ids.length === 1 ? first : summaryOf(failures, first, ids);
  return 0;
}

/** Continues after a refusal, which concerns one link; any other failure would repeat with the next link. */
async function cancelEach(
  api: Api,
  { ids, quiet }: { readonly ids: readonly string[]; readonly quiet: boolean },
  { out, signal }: Context,
): Promise<ReadonlyMap<string, PaylinkError>> {
  const failures = new Map<string, PaylinkError>();
  for (const id of ids) {
    signal.throwIfAborted();
    try {
      const { text, link, violations } = await api.cancelLink(id);
      for (const violation of violations) out.warn(renderProblem(violation));
      const { status = "–", url = id } = link;
      if (out.json) out.data(text);
      else if (quiet) out.data(safeText(url));
      else out.data(`${safeText(id)}  ${paintStatus(safeText(status), out.paint)}`);
    } catch (error) {
      if (!(error instanceof PaylinkError)) throw error;
      failures.set(id, error);
      if (error.code !== "refused") break;
    }
  }
  return failures;
}

/** The last failure decides the code: after one that is not a refusal nothing more was sent. */
function summaryOf(
  failures: ReadonlyMap<string, PaylinkError>,
  first: PaylinkError,
  ids: readonly string[],
): PaylinkError {
  const [failed, last] = [...failures].at(-1) ?? ["", first];
  const untried = last.code === "refused" ? [] : ids.slice(ids.indexOf(failed) + 1);
  const problems: Problem[] = [
    ...[...failures].map(([at, { message }]) => ({ at, message })),
    ...untried.map((at) => ({ at, message: "was not tried" })),
  ];
  const count = `${problems.length} of ${ids.length} links`;
  const message =
    last.code === "outcome_unknown"
      ? `${count} may not have been cancelled.`
      : `${count} ${problems.length === 1 ? "was" : "were"} not cancelled.`;
  return new PaylinkError(last.code, message, {
    problems,
    hints: last.code === "refused" ? [hint`To see a link: ${paylink("links", "show", "<id>")}`] : last.hints,
    details: last.details,
  });
}
