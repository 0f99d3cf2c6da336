/** Creates links at a running sandbox as an integration does: over HTTP, with the merchant's token. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface CreatedLink {
  readonly id: string;
  readonly url: string;
}

/** A reusable link of the sandbox whose home and address these are, unless the changes say otherwise. */
export async function createLink(
  home: string,
  sandboxUrl: string,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<CreatedLink> {
  const identity = JSON.parse(readFileSync(join(home, "data", "sandbox", "sandbox.json"), "utf8")) as {
    readonly token: string;
    readonly terminals: readonly string[];
  };
  const request = {
    amount: 0,
    currency: "EUR",
    terminalId: identity.terminals[0],
    customerName: "Ada Lovelace",
    linkOptions: { mode: "REUSABLE_VARIABLE" },
    ...changes,
  };
  const reply = await fetch(new URL("/v1/payment-links", sandboxUrl), {
    method: "POST",
    headers: { Authorization: `Bearer ${identity.token}`, "Content-Type": "application/json" },
    body: JSON.stringify(request),
  });
  if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as CreatedLink;
}
