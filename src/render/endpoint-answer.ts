/** Shows the answer of an endpoint to a sample webhook. */
import type { Paint } from "./paint.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import { renderCompactRecord } from "./transaction-record.ts";
import { clip, safeText } from "./safe-text.ts";

interface ShownAnswer {
  readonly status: number;
  readonly milliseconds: number;
  readonly body: string;
}

/** Characters of the body, enough to show the error. */
const BODY_LENGTH = 500;

export function renderAnswer(
  record: TransactionRecord,
  { status, milliseconds, body }: ShownAnswer,
  paint: Paint,
): string {
  const colour = status >= 200 && status < 300 ? paint.green : paint.red;
  const line = `${colour.bold(String(status))} ${paint.dim(`${milliseconds} ms`)}  ${renderCompactRecord(record, paint)}`;
  return body === "" ? line : `${line}\n  ${safeText(clip(body.trim(), BODY_LENGTH))}`;
}
