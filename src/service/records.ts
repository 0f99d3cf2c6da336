/** The transaction record in a reply of the service, without what the service wraps it in. */
import { findWrapped } from "../domain/envelope.ts";
import { stringifyJson } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { isRecord } from "../domain/transaction.ts";
import type { HttpReply } from "../http/message.ts";
import { checkAddress, reportedError, UnusableAnswer } from "./failures.ts";
import { reportsError, serviceWords } from "./words.ts";

/**
 * The bytes of the record, with its numbers as they are spelled. Throws `not_reached` if the answer holds no record, or more than
 * one, since a record without a single member of one would read as a payment of unclear outcome.
 */
export function recordIn(reply: HttpReply): Uint8Array {
  const { status, body } = reply;
  const json = parseJson(new TextDecoder().decode(body));
  const document = json.ok ? json.value.value : null;
  const [record, ...others] = findWrapped(document, isRecord);
  if (record !== undefined && others.length === 0)
    return record === document ? body : new TextEncoder().encode(stringifyJson(record));
  if (record === undefined && reportsError(document)) throw reportedError(reply, "read");
  const words = serviceWords(body);
  const found =
    record === undefined ? "without a transaction record" : "with more than one transaction record";
  throw new UnusableAnswer(
    "not_reached",
    `The service answered ${status} ${found}: ${words.text || "an empty body"}`,
    { status, words },
    { effect: "read", hints: [checkAddress("transactionUrl")] },
  );
}
