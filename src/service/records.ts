/** The transaction record in a reply of the service, without what the service wraps it in. */
import { hint, paylink } from "../domain/errors.ts";
import { type Json, stringifyJson, valueAt } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { isRecord, recordPlace } from "../domain/transaction.ts";
import type { HttpReply } from "../http/message.ts";
import { checkAddress, reportedError, UnusableAnswer } from "./failures.ts";
import { reportsError, serviceWords } from "./words.ts";

/**
 * The bytes of the record, with its numbers as they are spelled. `recordAt` is the setting. Throws `not_reached` if the answer
 * holds no record there, since a record without a single member of one would read as a payment of unclear outcome.
 */
export function recordIn(reply: HttpReply, recordAt: string | undefined): Uint8Array {
  const { status, body } = reply;
  const json = parseJson(new TextDecoder().decode(body));
  const document = json.ok ? json.value.value : null;
  const value = recordAt === undefined ? document : valueAt(document, recordAt);
  const record = onlyOne(value);
  if (record !== undefined && isRecord(record))
    return record === document ? body : new TextEncoder().encode(stringifyJson(record));
  if (reportsError(document)) throw reportedError(reply, "read");
  const seen = recordPlace(document);
  const where = recordAt === undefined ? "" : ` at ${recordAt} (recordAt)`;
  const words = serviceWords(body);
  throw new UnusableAnswer(
    "not_reached",
    `The service answered ${status} without a transaction record${where}: ${words.text || "an empty body"}`,
    { status, words },
    {
      effect: "read",
      hints:
        seen === undefined
          ? [checkAddress("transactionUrl", "recordAt")]
          : [hint`The record seems to be at ${seen}: ${paylink("config", "set", "recordAt", seen)}`],
      details: seen === undefined ? {} : { recordAt: seen },
    },
  );
}

/** The object itself, or the one in a list of one: some services search for the transaction. */
const onlyOne = (value: Json | undefined): Json | undefined =>
  Array.isArray(value) && value.length === 1 ? value[0] : value;
