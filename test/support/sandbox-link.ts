/** Creates links at a running sandbox of the tests' merchant as an integration does: over HTTP, with the merchant's token. */
import { MERCHANT } from "./merchant.ts";

export interface CreatedLink {
  readonly id: string;
  readonly url: string;
}

/** A reusable link of the sandbox at this address, unless the changes say otherwise. */
export async function createLink(
  sandboxUrl: string,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<CreatedLink> {
  const request = {
    amount: 0,
    currency: "EUR",
    terminalId: MERCHANT.terminalId,
    customerName: "Ada Lovelace",
    linkOptions: { mode: "REUSABLE_VARIABLE" },
    ...changes,
  };
  const reply = await fetch(new URL("/v1/payment-links", sandboxUrl), {
    method: "POST",
    headers: { Authorization: `Bearer ${MERCHANT.token}`, "Content-Type": "application/json" },
    body: JSON.stringify(request),
  });
  if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as CreatedLink;
}
