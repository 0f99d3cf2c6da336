/** The one object that a 2xx reply must hold, alone or in an envelope: a link, a page of links or a transaction record. */
import { findWrapped } from "../domain/envelope.ts";
import type { Effect } from "../domain/errors.ts";
import { type Json, type JsonObject, stringifyJson } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { isRecord } from "../domain/transaction.ts";
import type { HttpReply } from "../http/message.ts";
import { checkAddress, isHarmless, reportedError, UnusableAnswer, whenUnknown } from "./failures.ts";
import { reportsError, serviceWords } from "./words.ts";

interface Wanted {
  readonly what: "link" | "list of links" | "transaction record";
  readonly findIn: (document: Json) => readonly JsonObject[];
  readonly effect: Effect;
  /** The id of the link that the request names. */
  readonly link?: string;
}

interface Only {
  readonly object: JsonObject;
  /** Whether the body is the object itself. */
  readonly isWhole: boolean;
}

/** Throws `refused` for an error with 2xx; else `not_reached`, or `outcome_unknown` after a change, which may have had its effect. */
export function onlyObject(reply: HttpReply, { what, findIn, effect, link }: Wanted): Only {
  const { status, body } = reply;
  const parsed = parseJson(new TextDecoder().decode(body));
  const document = parsed.ok ? parsed.value.value : null;
  const [object, ...others] = findIn(document);
  if (object !== undefined && others.length === 0) return { object, isWhole: object === document };
  if (object === undefined && reportsError(document)) throw reportedError(reply, effect);
  const words = serviceWords(body);
  const found = object === undefined ? `without a ${what}` : `with more than one ${what}`;
  throw new UnusableAnswer(
    isHarmless(effect) ? "not_reached" : "outcome_unknown",
    `The service answered ${status} ${found}: ${words.text || "an empty body"}`,
    reply,
    words,
    {
      effect,
      hints: isHarmless(effect) ? [checkAddress(effect)] : whenUnknown(effect, link),
      details: link === undefined ? {} : { link },
    },
  );
}

/**
 * The bytes of the record, with its numbers as they are spelled. An object without any member of a record is refused: it would
 * read as a payment of unclear outcome.
 */
export function recordIn(reply: HttpReply): Uint8Array {
  const { object, isWhole } = onlyObject(reply, {
    what: "transaction record",
    findIn: (document) => findWrapped(document, isRecord),
    effect: "read",
  });
  return isWhole ? reply.body : new TextEncoder().encode(stringifyJson(object));
}
