/** `paylink transaction`: reads one record back from the service and shows it as `listen` does. */
import { checkAddress } from "../../service/failures.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { memberOf } from "../../domain/json.ts";
import { readRecord, type Violation, type TransactionRecord } from "../../domain/transaction.ts";
import { renderRecord } from "../../render/transaction-record.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseTimeout } from "../flag-values.ts";

export interface TransactionOptions {
  readonly uti: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Throws one `usage` error with every problem. */
export function transactionOptions(uti: string, flags: { readonly timeout: string }): TransactionOptions {
  const reader = createFlagReader();
  if (uti.trim() === "") reader.problem("<uti>", "must not be empty");
  const timeout = reader.read("--timeout", flags.timeout, parseTimeout);
  reader.finish("Nothing was read.");
  return { uti, timeout: timeout.value };
}

export async function transaction(context: Context, { uti, timeout }: TransactionOptions): Promise<number> {
  const { out } = context;
  const api = await context.api({ timeout });
  const { body, record: bytes } = await api.readTransaction(uti);
  const { record, violations } = readRecord(bytes);
  if (record === null)
    throw new PaylinkError("not_reached", "The service's answer is not a transaction record.", {
      hints: [checkAddress("transactionUrl", "recordAt")],
      problems: violations.map(({ path, message }) => ({ at: path || "body", message })),
    });
  if (out.json) out.data(new TextDecoder("utf-8", { ignoreBOM: true }).decode(body));
  else out.data(renderRecord(record, [...violations, ...otherUti(record, uti)], out));
  return 0;
}

function otherUti(record: TransactionRecord, uti: string): Violation[] {
  if (memberOf(record, "uti") === uti) return [];
  return [{ code: "body_schema", path: "uti", message: "is not the uti that was asked for" }];
}
