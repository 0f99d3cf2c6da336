/** The one object that a 2xx reply must hold, alone or in an envelope: a link, a page of links or a transaction record. */
import {
  findWrapped,
  isJsonObject,
  type Json,
  type JsonObject,
  memberOf,
  stringifyJson,
} from "../values/json.ts";
import { PaylinkError } from "../domain/errors.ts";
import { parseJson } from "../values/parse-json.ts";
import { isRecord } from "../domain/transaction.ts";
import type { HttpReply } from "../http/message.ts";
import { isReading, type ServiceEffect } from "../domain/operations.ts";
import { type About, aboutDetails, checkAddress, whenUnknown } from "./advice.ts";
import { reportedError, UnusableAnswer } from "./failures.ts";
import { reportsError, serviceWords } from "../http/error-words.ts";

interface ReplyShape {
  readonly what: "link" | "list of links" | "transaction record";
  readonly findIn: (document: Json) => readonly JsonObject[];
  /** Whether it is what is wanted, even if its other members would be an error. */
  readonly isCertain: (object: JsonObject) => boolean;
  readonly effect: ServiceEffect;
  readonly about?: About;
}

interface Only {
  readonly object: JsonObject;
  /** Whether the body is the object itself. */
  readonly isWhole: boolean;
}

/** Throws `refused` for an error with 2xx; else `not_reached`, or `outcome_unknown` after a change, which may have had its effect. */
export function onlyObject(
  reply: HttpReply,
  { what, findIn, isCertain, effect, about = {} }: ReplyShape,
): Only {
  const { status, body } = reply;
  const parsed = parseJson(new TextDecoder().decode(body));
  const document = parsed.ok ? parsed.value.value : null;
  const [object, ...others] = findIn(document);
  if ((object === undefined || !isCertain(object)) && reportsError(document))
    throw reportedError(reply, document, effect, about);
  if (object !== undefined && others.length === 0) return { object, isWhole: object === document };
  const words = serviceWords(reply);
  const found = object === undefined ? `without a ${what}` : `with more than one ${what}`;
  throw new UnusableAnswer(
    isReading(effect) ? "not_reached" : "outcome_unknown",
    `The service answered ${status} ${found}: ${words.text || "an empty body"}`,
    reply,
    words,
    {
      effect,
      hints: isReading(effect) ? [checkAddress(effect)] : whenUnknown(effect, about),
      details: aboutDetails(about),
    },
  );
}

/** The records in a reply, which may also be the entries of a list, alone or in an envelope. */
function recordsIn(document: Json): readonly JsonObject[] {
  const found = findWrapped(document, isRecord);
  if (found.length > 0) return found;
  const lists = isJsonObject(document) ? Object.values(document) : [document];
  return lists
    .filter((list) => Array.isArray(list))
    .flatMap((list) => list.filter(isJsonObject).filter(isRecord));
}

/**
 * The bytes of the record, with its numbers as they are spelled. An object without any member of a record is refused: it would
 * read as a payment of unclear outcome; and so are several records, since nothing says which of them is meant.
 */
export function recordIn(reply: HttpReply): Uint8Array {
  const text = new TextDecoder().decode(reply.body);
  const parsed = parseJson(text);
  const records = parsed.ok ? recordsIn(parsed.value.value) : [];
  if (records.length > 1)
    throw new PaylinkError(
      "outcome_unknown",
      `The service answered ${reply.status} with ${records.length} transaction records, so paylink cannot tell which one is meant.`,
      {
        effect: "transaction",
        hints: [checkAddress("transaction")],
        details: { status: reply.status, body: text },
      },
    );
  const { object, isWhole } = onlyObject(reply, {
    what: "transaction record",
    findIn: recordsIn,
    isCertain: (record) => memberOf(record, "uti") !== undefined,
    effect: "transaction",
  });
  return isWhole ? reply.body : new TextEncoder().encode(stringifyJson(object));
}
