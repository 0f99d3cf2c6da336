/** `paylink transaction`: reads one record back from the service and shows it as `listen` does. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { memberOf } from "../../domain/json.ts";
import { readRecord, type Breach, type TransactionRecord } from "../../domain/transaction.ts";
import { renderRecord } from "../../render/transaction-record.ts";
import { settingsInForce } from "../../store/in-force.ts";
import { openAccount } from "../account.ts";
import { REQUEST_TIMEOUT, timeoutOf } from "../timeout.ts";
import type { TransactionFlags } from "./command.ts";

export async function transaction(context: Context, uti: string, flags: TransactionFlags): Promise<void> {
  const { out } = context;
  if (uti.trim() === "") throw new PaylinkError("usage", "<uti> must not be empty.");
  const timeout = timeoutOf(flags.timeout) ?? REQUEST_TIMEOUT;
  const api = await openAccount(context, await settingsInForce(context), timeout);
  const body = await api.readTransaction(uti);
  const { record, breaches } = readRecord(body);
  if (record === null)
    throw new PaylinkError("not_reached", "The service answered with something that is no transaction.", {
      hint: "Check the path it is read at: paylink config get transactionPath",
      problems: breaches.map(({ path, message }) => ({ at: path || "body", message })),
    });
  if (out.json) out.data(new TextDecoder("utf-8", { ignoreBOM: true }).decode(body));
  else out.data(renderRecord(record, [...breaches, ...otherUti(record, uti)], out));
}

function otherUti(record: TransactionRecord, uti: string): Breach[] {
  if (memberOf(record, "uti") === uti) return [];
  return [{ code: "body_schema", path: "uti", message: "is not the one that was asked for" }];
}
