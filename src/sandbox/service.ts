/** What the sandbox's routes work on, and what it tells of as it happens. */
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import { stringifyJson } from "../domain/json.ts";
import type { Send } from "../http/exchange.ts";
import { createAccounts, type Accounts, type Merchant } from "./accounts.ts";
import type { Clock } from "./clock.ts";
import { createDeliveries, type AttemptReport, type Deliveries } from "./deliveries.ts";
import { queued, type Fault } from "./faults.ts";
import type { Ledger } from "./ledger.ts";
import type { Link } from "./links.ts";
import { takePayment, type Attempt, type PaymentIds } from "./payments.ts";
import { ServiceProblem } from "./problem.ts";
import type { SigningKeys } from "./signing-keys.ts";

export type SandboxEvent =
  | { readonly type: "link"; readonly link: Link; readonly url: string }
  | { readonly type: "payment"; readonly link: Link; readonly record: WellFormedRecord }
  | { readonly type: "cancelled"; readonly link: Link }
  | ({ readonly type: "delivery" } & AttemptReport);

export interface SandboxParts {
  readonly merchant: Merchant;
  readonly keys: SigningKeys;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: PaymentIds;
  /** Access tokens are drawn apart from `ids`: no seed gives them away. */
  readonly newToken: () => string;
  readonly send: Send;
  readonly machineNow: () => Date;
  readonly allowRemote: boolean;
  readonly schedule: readonly number[];
  readonly fault: Fault | undefined;
  readonly observe: (event: SandboxEvent) => void;
  readonly faulted: (error: unknown) => void;
}

export interface Service {
  readonly parts: SandboxParts;
  readonly accounts: Accounts;
  readonly deliveries: Deliveries;
  /** Calls back at each event until it is told to stop. */
  watch(onEvent: () => void): () => void;
  readonly tell: (event: SandboxEvent) => void;
}

export function createService(parts: SandboxParts): Service {
  const watchers = new Set<() => void>();
  const tell = (event: SandboxEvent): void => {
    parts.observe(event);
    for (const watcher of watchers) watcher();
  };
  return {
    parts,
    accounts: createAccounts(parts.merchant, parts.newToken, () => parts.clock.now()),
    deliveries: createDeliveries({ ...parts, report: (report) => tell({ type: "delivery", ...report }) }),
    watch: (watcher) => {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    tell,
  };
}

/**
 * Takes a payment and queues its webhook in one commit; resolves when both are durable. The link is read here, with
 * nothing awaited until it is written again: of two customers at the same moment the second one finds it paid.
 */
export async function acceptPayment(
  service: Service,
  linkId: string,
  attempt: Attempt,
): Promise<WellFormedRecord> {
  const { parts, deliveries, tell } = service;
  const { ledger, clock, ids, merchant } = parts;
  const link = ledger.findLink(linkId);
  if (link === undefined) throw new ServiceProblem(404, "Not Found", "no payment link has this id");
  const isTaken = (reference: string): boolean => ledger.hasReference(reference);
  const record = takePayment(link, attempt, { merchant, ids, isTaken, now: clock.now() });
  const url = callbackOf(link, record);
  await ledger.write(() => {
    if (url !== undefined) queueWebhook(service, link, record, url);
    ledger.saveLink(link);
    ledger.addPayment({ uti: record.uti, linkId, record });
  });
  tell({ type: "payment", link, record });
  if (url !== undefined) deliveries.wake(url);
  return record;
}

function queueWebhook({ parts }: Service, link: Link, record: WellFormedRecord, url: string): void {
  const { ledger, ids, clock, fault } = parts;
  const delivery = {
    id: ids.newId(),
    linkId: link.id,
    uti: record.uti,
    url,
    body: new TextEncoder().encode(stringifyJson(record)),
    state: "waiting",
    attempts: 0,
    tries: 0,
    due: clock.now().getTime(),
  } as const;
  for (const one of queued(delivery, fault, () => ledger.counts().payments, ids.newId))
    ledger.addDelivery(one);
}

/** Events: a webhook goes to the address that fits the outcome, and only where one was supplied. */
function callbackOf(link: Link, record: WellFormedRecord): string | undefined {
  const { callbackUrl, failureCallbackUrl } = link.request.paymentSettings ?? {};
  return record.transApproved ? callbackUrl : failureCallbackUrl;
}
