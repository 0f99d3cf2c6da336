/** The customer's side of a link: posts to its checkout address what the form of the page would post. */
import { PaylinkError } from "../domain/errors.ts";
import { isJsonObject, parseJson } from "../domain/json.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import type { Send } from "../http/exchange.ts";
import { addressOf } from "../http/message.ts";
import { failureOf, refusalOf } from "./refusals.ts";

export interface CheckoutForm {
  readonly outcome: string;
  readonly amount?: string;
  readonly reference?: string;
}

export interface Paid {
  /** The sandbox's own JSON. */
  readonly text: string;
  readonly record: TransactionRecord;
}

/** Throws `refused` where the sandbox does not take the payment, `not_reached` or `outcome_unknown` where no answer comes. */
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
    throw failureOf(error, "pays");
  });
  if (reply.status !== 200) throw refusalOf(reply, "pays");
  const text = new TextDecoder().decode(reply.body);
  const record = parseJson(text);
  if (!record.ok || !isJsonObject(record.value.value))
    throw new PaylinkError(
      "refused",
      `${url.origin} is no sandbox: it did not answer with a transaction record.`,
    );
  return { text, record: record.value.value };
}
