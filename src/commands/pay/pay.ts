/** `paylink pay`: posts what the checkout page's form would post, and shows what came of it. */
import { payAtCheckout } from "../../api/pay-link.ts";
import type { Context } from "../../context.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { parseAmount } from "../../domain/money.ts";
import { textOf } from "../../domain/transaction.ts";
import { isLoopback, parseWebAddress } from "../../domain/web-address.ts";
import { renderCompactRecord } from "../../render/transaction-record.ts";
import { safeText } from "../../render/safe-text.ts";
import { sandboxInForce } from "../../store/sandbox-in-force.ts";
import type { PayFlags } from "./command.ts";

const OUTCOMES = ["approved", "declined", "cancelled"];

export async function pay(context: Context, link: string, flags: PayFlags): Promise<void> {
  const { out, send } = context;
  const amount = flags.amount === undefined ? undefined : parseAmount(flags.amount);
  const problems: Problem[] = [];
  if (!OUTCOMES.includes(flags.outcome))
    problems.push({ at: "--outcome", message: `must be one of ${OUTCOMES.join(", ")}` });
  if (amount?.ok === false) problems.push({ at: "--amount", message: amount.message });
  if (problems.length > 0) throw new PaylinkError("usage", "Nothing was paid.", { problems });
  const { text, record } = await payAtCheckout(send, await checkoutUrl(context, link), {
    outcome: flags.outcome,
    ...(amount?.ok === true ? { amount: amount.value.toString() } : {}),
    ...(flags.reference === undefined ? {} : { reference: flags.reference }),
  });
  if (out.json) out.data(text);
  else if (flags.quiet === true) out.data(safeText(textOf(record, "uti") ?? ""));
  else out.data(renderCompactRecord(record, out.paint));
}

/** A whole URL, or an id of the sandbox in force. Real money is never paid from here. */
async function checkoutUrl(context: Context, link: string): Promise<URL> {
  const given = parseWebAddress(link);
  if (given === undefined) return linkAddress((await sandboxInForce(context)).baseUrl, link);
  if (isLoopback(given.hostname)) return given;
  throw new PaylinkError(
    "usage",
    `${given.host} is not on this machine: only links of the sandbox can be paid from here.`,
  );
}

function linkAddress(baseUrl: URL, id: string): URL {
  const url = new URL("/pay", baseUrl);
  url.searchParams.set("r", id);
  return url;
}
