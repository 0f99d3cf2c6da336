/** Names the command that reads a transaction, custom data included. */
import type { Context } from "../context.ts";
import { paylink } from "../domain/errors.ts";
import { renderCommand } from "../render/hint.ts";

/** Without the uti. Undefined if the service has no known address for transactions. */
export async function transactionCommand({
  settings,
}: Pick<Context, "settings">): Promise<string | undefined> {
  const resolved = await settings();
  if (resolved.get("baseUrl") === undefined || resolved.get("transactionUrl") === undefined) return undefined;
  return renderCommand(paylink("transaction"), resolved.named);
}
