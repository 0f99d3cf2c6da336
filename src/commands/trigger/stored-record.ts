/** `paylink trigger --from`: the record of a stored event, from which the webhook is made. */
import type { Context } from "../../context.ts";
import { recordOfSample, type SampleSource } from "../../sender/samples.ts";
import { PaylinkError } from "../../domain/errors.ts";
import type { Json } from "../../values/json.ts";
import type { SampleOutcome } from "../../domain/outcome.ts";
import type { TransactionRecord } from "../../domain/transaction.ts";
import { type FieldName, TRANSACTION_FIELDS } from "../../domain/transaction-fields.ts";
import { shortKey } from "../../signatures/thumbprint.ts";
import type { StoredEvent } from "../../events/history.ts";
import { openRunKeys } from "../judge-again.ts";

/** The event as it is named by its uti, its id or its order number, or by the start of one. Throws `event_not_found`, `usage`. */
export async function storedRecord(
  name: string,
  database: string | undefined,
  context: Context,
): Promise<TransactionRecord> {
  const store = await context.events(database);
  const event = await store.findOne(name);
  if (event.type === "rejected")
    throw new PaylinkError("usage", `${name} was rejected, so nothing in it is known to be genuine.`, {
      effect: "send",
    });
  const { record } = event.content;
  if (record === null)
    throw new PaylinkError("usage", `${name} holds no record: its body is not a JSON object.`, {
      effect: "send",
    });
  await warnOfOtherKey(event, context);
  return record;
}

/** A record of another account names orders that the application does not have, or, worse, has. */
async function warnOfOtherKey({ key, uti, id }: StoredEvent, context: Context): Promise<void> {
  const { out } = context;
  const name = uti || id;
  try {
    if ((await openRunKeys(context, [], "send")).includes(key)) return;
    out.warn(
      `The webhook of ${name} was verified by another key (${shortKey(key)}) than those of this profile: it is of another account.`,
    );
  } catch (error) {
    if (!(error instanceof PaylinkError)) throw error;
    if (error.code === "key_required") return;
    out.warn(
      `The keys of this profile could not be read, so it is not known whether ${name} is one of its events: ${error.message}`,
    );
  }
}

/** The fields whose values say how a payment ended. */
const OUTCOME_FIELDS: ReadonlySet<FieldName> = new Set<FieldName>([
  "transApproved",
  "transPartiallyApproved",
  "transCancelled",
  "status",
  "responseCode",
  "emvCryptogramType",
]);

/** The record of the same payment with another outcome: the fields that depend on it are those of a sample. */
export function withOutcome(
  base: TransactionRecord,
  outcome: SampleOutcome,
  source: SampleSource,
): TransactionRecord {
  const sample: TransactionRecord = recordOfSample({ outcome, link: "one-time" }, source);
  const changed = TRANSACTION_FIELDS.filter(
    ({ name, presence }) => OUTCOME_FIELDS.has(name) || presence !== "always",
  ).map(({ name }) => name);
  const kept = Object.entries(base).filter(([name]) => !changed.some((one) => one === name));
  const fromSample = changed.flatMap((name): [string, Json][] => {
    const value = sample[name];
    return value === undefined ? [] : [[name, OUTCOME_FIELDS.has(name) ? value : (base[name] ?? value)]];
  });
  return Object.fromEntries([...kept, ...fromSample]);
}
