/** `paylink pay`: posts what the form of the checkout page would post, and shows the transaction. */
import { payAtCheckout } from "../../service/sandbox.ts";
import type { Context } from "../../context.ts";
import { textOf } from "../../domain/transaction.ts";
import { renderCompactRecord } from "../../render/transaction-record.ts";
import { safeText } from "../../render/safe-text.ts";
import { findSandbox } from "../../settings/resolved-settings.ts";
import type { PayOptions } from "./options.ts";

export async function pay(context: Context, options: PayOptions): Promise<number> {
  const { out, send } = context;
  const { link, outcome, amount, reference, quiet } = options;
  const url = typeof link === "string" ? await checkoutUrl(context, link) : link;
  const { text, record } = await payAtCheckout(send, url, {
    outcome,
    ...(amount === undefined ? {} : { amount }),
    ...(reference === undefined ? {} : { reference }),
  });
  if (out.json) out.data(text);
  else if (quiet) out.data(safeText(textOf(record, "uti") ?? ""));
  else out.data(renderCompactRecord(record, out.paint));
  return 0;
}

async function checkoutUrl(context: Context, id: string): Promise<URL> {
  const { baseUrl } = await findSandbox(context);
  const url = new URL("/pay", baseUrl);
  url.searchParams.set("r", id);
  return url;
}
