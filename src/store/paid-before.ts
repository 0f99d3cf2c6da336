/** Finds events that are approved for an order which another payment has paid before. */
import { signOf } from "../domain/money.ts";
import { amountIn, outcomeOf, textOf, type TransactionRecord } from "../domain/transaction.ts";
import { forRows, type DatabaseSession } from "./dialects.ts";
import { indexed } from "./writes.ts";

/** An event that is stored now, or a further delivery of one that was. */
export interface Arrived {
  /** The id of its first delivery. */
  readonly first: string;
  readonly key: string;
  readonly record: TransactionRecord | null;
}

interface Approved {
  readonly first: string;
  readonly key: string;
  readonly uti: string;
  readonly reference: string;
}

/**
 * The ids of the first deliveries of those events. A part of an amount, a declined attempt, a verification of the card over 0,
 * and a payment that another key has verified pay no order. Two receivers that store two payments in the same moment do not see each other.
 */
export async function paidBefore(
  session: DatabaseSession,
  arrived: readonly Arrived[],
): Promise<ReadonlySet<string>> {
  const { schema } = session.dialect;
  const approved = arrived.flatMap(approvedOf);
  const found = await forRows(
    session,
    approved.map(({ first, uti, reference, key }) => [first, uti, reference, key]),
    (asked) =>
      `WITH asked (id, uti, reference, key) AS (VALUES ${asked})
       SELECT id FROM asked WHERE EXISTS (SELECT 1 FROM ${schema}events AS earlier
         WHERE earlier.reference = asked.reference AND earlier.id < asked.id AND earlier.outcome = 'APPROVED'
           AND earlier.key = asked.key AND earlier.uti <> asked.uti
           AND (earlier.amount IS NULL OR earlier.amount <> 0))`,
    { types: ["text", "text", "text", "text"] },
  );
  const later = approved.filter((one, at) => approved.slice(0, at).some((other) => isSecond(one, other)));
  return new Set([...found.map(({ id }) => String(id)), ...later.map(({ first }) => first)]);
}

function approvedOf({ first, key, record }: Arrived): Approved[] {
  const reference = record === null ? undefined : textOf(record, "reference");
  if (record === null || !reference || outcomeOf(record) !== "APPROVED") return [];
  const amount = amountIn(record, "amountTrans");
  if (amount !== undefined && signOf(amount) === 0) return [];
  return [{ first, key, uti: indexed(textOf(record, "uti") ?? ""), reference: indexed(reference) }];
}

const isSecond = (one: Approved, other: Approved): boolean =>
  other.first < one.first &&
  one.reference === other.reference &&
  one.key === other.key &&
  one.uti !== other.uti;
