/** The seals of stored events: by them, what a disk or another program has changed is noticed before it is shown, counted or forwarded. */
import { hash } from "node:crypto";
import { type Row, sql, type Value } from "./sql.ts";

/** The columns of an event that its seal is of. */
export const SEALED = [
  "id",
  "uti",
  "received_at",
  "outcome",
  "reference",
  "key",
  "path",
  "currency",
  "amount",
  "card",
  "payment",
  "verdict",
  "head",
  "digest",
  "body",
] as const;

/** All but the body, which is bytes. */
const SEALED_TEXTS = SEALED.filter((name) => name !== "body");

/**
 * The first half of the SHA-256 of these columns, in Base64: half is enough to notice accidents, which is all that it is for. None of
 * the texts contains a NUL. A column without a value is left out, so that the seals of older events hold when a column is added.
 */
export function sealOf(row: Row): string {
  const { body } = row;
  const texts = Buffer.from(
    SEALED_TEXTS.map((name) => [name, row[name]])
      .filter(([, value]) => value != null)
      .map((column) => `${column.join("=")}\0`)
      .join(""),
  );
  const digest = hash(
    "sha256",
    Buffer.concat([texts, body instanceof Uint8Array ? body : new Uint8Array()]),
    "base64url",
  );
  return digest.slice(0, 22);
}

/** Throws for an event that has changed since it was stored. */
export function requireSeal(row: Row): void {
  if (row["seal"] !== sealOf(row)) throw new Error("it has changed since it was stored");
}

/** Outcome, currency and amount as one text, beside the columns that are counted. */
export const sealText = (outcome: string, currency: Value, amount: Value): string =>
  `${outcome} ${String(currency)} ${String(amount ?? "")}`;

/** A column of sums: how many rows have changed in these columns since they were stored. */
export const DAMAGED_ROWS = sql`sum(CASE WHEN payment = outcome || ' ' || currency || ' ' || coalesce(CAST(amount AS text), '')
  THEN 0 ELSE 1 END) AS damaged`;

/** Whether any of the rows with `DAMAGED_ROWS` counts one. */
export const hasDamagedRows = (sums: readonly Row[]): boolean =>
  sums.some(({ damaged }) => Number(damaged) > 0);
