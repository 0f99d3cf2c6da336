/** What the sandbox's routes use: its parts, its access tokens, its deliveries and its events. */
import type { SignatureForm } from "../check/signature-form.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import type { Send } from "../http/exchange.ts";
import { createAccessTokens, type AccessTokens, type AllowedHosts } from "./access.ts";
import { createDeliveries, type AttemptReport, type Deliveries, type Fault } from "./deliveries.ts";
import type { Merchant } from "./identity.ts";
import type { Ledger } from "./store/ledger.ts";
import type { Link } from "./store/rows.ts";
import type { Clock, PaymentIds, SigningKeys } from "./parts.ts";

/** What the sandbox does with a second link of the same `invoiceId` at the same terminal. */
export const DUPLICATE_INVOICES = ["accept", "refuse"] as const;
export type DuplicateInvoices = (typeof DUPLICATE_INVOICES)[number];

export type SandboxEvent =
  | { readonly type: "link"; readonly link: Link; readonly url: string }
  | { readonly type: "payment"; readonly link: Link; readonly record: WellFormedRecord }
  | { readonly type: "updated" | "cancelled"; readonly link: Link }
  | ({ readonly type: "delivery" } & AttemptReport);

export interface SandboxParts extends AllowedHosts {
  readonly merchant: Merchant;
  readonly keys: SigningKeys;
  /** How webhooks are signed. */
  readonly form: SignatureForm;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: PaymentIds;
  /** Apart from `ids`, so that a seed does not make access tokens predictable. */
  readonly newToken: () => string;
  readonly send: Send;
  readonly machineNow: () => Date;
  /** Posts to self-signed certificates of loopback and of the allowed hosts. */
  readonly insecure: boolean;
  readonly schedule: readonly number[];
  readonly fault: Fault | undefined;
  /** Whether a terminal accepts the same `invoiceId` twice. */
  readonly duplicateInvoices: DuplicateInvoices;
  readonly observe: (event: SandboxEvent) => void;
  readonly faulted: (error: unknown) => void;
}

export interface Service {
  readonly parts: SandboxParts;
  readonly tokens: AccessTokens;
  readonly deliveries: Deliveries;
  /** Tells open pages that something they may show has changed; each unit of the ledger tells it by itself. */
  readonly announce: () => void;
  /** Calls back at each change until the returned function is called. */
  subscribe(onChange: () => void): () => void;
}

export function createService(given: SandboxParts): Service {
  const subscribers = new Set<() => void>();
  const announce = (): void => {
    for (const onChange of subscribers) onChange();
  };
  const write = async (unit: () => void): Promise<void> => {
    await given.ledger.write(unit);
    announce();
  };
  const parts = { ...given, ledger: { ...given.ledger, write } };
  return {
    parts,
    tokens: createAccessTokens(parts.merchant, parts.newToken, () => parts.clock.now()),
    deliveries: createDeliveries({
      ...parts,
      report: (report) => parts.observe({ type: "delivery", ...report }),
    }),
    announce,
    subscribe: (onChange) => {
      subscribers.add(onChange);
      return () => void subscribers.delete(onChange);
    },
  };
}
