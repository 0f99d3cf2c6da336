/** Names the command that reads a transaction, custom data included. */
import type { Context } from "../context.ts";

/** Without the uti. Undefined where the service does not say where transactions are read. */
export async function transactionCommand({
  settings,
  profile,
}: Pick<Context, "settings" | "profile">): Promise<string | undefined> {
  const inForce = await settings();
  if (inForce.get("baseUrl") === undefined || inForce.get("transactionUrl") === undefined) return undefined;
  return profile === undefined ? "paylink transaction" : `paylink transaction -p ${profile}`;
}
