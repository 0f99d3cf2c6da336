/** Pays a link of the sandbox as a customer does: posts the form of its checkout page. */
import { hint, PaylinkError } from "../domain/errors.ts";
import { isJsonObject } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import type { Send } from "../http/exchange.ts";
import { addressOf } from "../http/message.ts";
import { failureOf, refusalOf } from "./failures.ts";

export interface CheckoutForm {
  readonly outcome: string;
  readonly amount?: string;
  readonly reference?: string;
}

export interface Paid {
  /** The JSON of the sandbox, unchanged. */
  readonly text: string;
  readonly record: TransactionRecord;
}

/** Throws `refused` if the sandbox refuses the payment, `not_reached` or `outcome_unknown` without an answer. */
export async function payAtCheckout(send: Send, url: URL, form: CheckoutForm): Promise<Paid> {
  const reply = await send({
    method: "POST",
    ...addressOf(url),
    headers: [
      ["Accept", "application/json"],
      ["Content-Type", "application/x-www-form-urlencoded"],
    ],
    body: new TextEncoder().encode(new URLSearchParams({ ...form }).toString()),
  }).catch((error: unknown) => {
    throw failureOf(error, "pay");
  });
  if (reply.status !== 200) throw refusalOf(reply, "pay");
  const text = new TextDecoder().decode(reply.body);
  const record = parseJson(text);
  if (!record.ok || !isJsonObject(record.value.value))
    throw new PaylinkError(
      "refused",
      `${url.origin} is not a sandbox: it did not answer with a transaction record.`,
      { hints: [hint`Only links of the sandbox can be paid from here. Check the link.`] },
    );
  return { text, record: record.value.value };
}
