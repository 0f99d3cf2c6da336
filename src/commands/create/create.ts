/** `paylink create`: asks for what the request lacks, sends it once and shows the link. */
import type { CreatedLink } from "../../service/links.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { SPECIFIED_FORM } from "../../domain/known-services.ts";
import { stringifyJson } from "../../domain/json.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link.ts";
import { renderCurl } from "../../render/link.ts";
import { renderProblem } from "../../render/error-message.ts";
import { safeJson } from "../../render/safe-text.ts";
import type { BuiltRequest } from "../../service/request.ts";
import type { CreateOptions } from "./options.ts";

export async function create(context: Context, options: CreateOptions): Promise<number> {
  const { out } = context;
  const { request, warnings } = await completeRequest(context, options);
  for (const warning of warnings()) out.warn(renderProblem(warning));
  if (options.print === "json") {
    out.data(safeJson(stringifyJson(request, 2)));
    return 0;
  }
  if (options.print === "curl") return printCurl(context, options, request);
  const api = await context.api({ timeout: options.timeout });
  const { showLink } = await import("./show-link.ts");
  const send = async (link: PaymentLinkRequest): Promise<CreatedLink> => {
    const created = await api.createLink(link);
    await showLink(created, link, options, context);
    return created;
  };
  if (options.wait) {
    const { createAndWait } = await import("./wait.ts");
    return createAndWait(context, { ...options, flags: options.draft.flags, request, send });
  }
  await send(request);
  return 0;
}

type CompleteRequest = BuiltRequest & { readonly request: PaymentLinkRequest };

async function completeRequest(context: Context, options: CreateOptions): Promise<CompleteRequest> {
  const { built } = options.draft;
  if (isComplete(built)) return built;
  const { askForRequest } = await import("./ask-for-request.ts");
  const answered = await askForRequest(context, options);
  if (isComplete(answered)) return answered;
  throw new PaylinkError("usage", "Nothing was sent.", { problems: answered.problems });
}

const isComplete = (built: BuiltRequest): built is CompleteRequest => built.request !== null;

async function printCurl(
  { out }: Context,
  { settings }: CreateOptions,
  request: PaymentLinkRequest,
): Promise<number> {
  const { serviceUrl } = await import("../../service/client.ts");
  const url = serviceUrl(
    settings.get("baseUrl") ?? "",
    settings.get("linksPath") ?? SPECIFIED_FORM.linksPath,
  );
  const curl = renderCurl(url, stringifyJson(request), {
    authHeader: settings.get("authHeader") ?? SPECIFIED_FORM.authHeader,
    headers: settings.get("headers") ?? {},
  });
  out.data(out.json ? JSON.stringify({ curl }) : curl);
  return 0;
}
