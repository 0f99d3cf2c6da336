/** What a sandbox is made of: everything that it is given, and what it reports. */
import { SERVICE_FORM, type SignatureForm } from "../signatures/cover.ts";
import type { ApiFault } from "./api-faults.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import type { Send } from "../http/exchange.ts";
import type { Clock } from "./clock.ts";
import type { Merchant } from "./identity.ts";
import type { SigningKeys } from "./signing-keys.ts";
import type { Ledger } from "./store/ledger.ts";
import type { Delivery, DeliveryState, Link } from "./store/ledger-rows.ts";

export type SandboxEvent =
  | { readonly type: "link"; readonly link: Link; readonly url: string }
  | { readonly type: "payment"; readonly link: Link; readonly record: WellFormedRecord }
  | { readonly type: "updated" | "cancelled"; readonly link: Link }
  /** A new address of the dashboard, since a browser has opened the one before. */
  | { readonly type: "dashboard"; readonly url: string }
  | {
      readonly type: "delivery";
      readonly delivery: Delivery;
      readonly attempt: number;
      /** The receiver's status; null without a response. */
      readonly status: number | null;
      readonly detail: string;
      readonly state: DeliveryState;
    };

export interface SandboxSetup {
  readonly merchant: Merchant;
  readonly keys: SigningKeys;
  /** How webhooks are signed. */
  readonly form: SignatureForm;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Returns UUIDs. */
  readonly newId: () => string;
  readonly send: Send;
  /** For a signature's `created`, which receivers compare with their own clocks, not with the sandbox's. */
  readonly machineNow: () => Date;
  /** Answers and posts to every machine. */
  readonly allowRemote: boolean;
  /** Names that it answers and posts to besides those of loopback, as `URL.hostname` spells them. */
  readonly allowedHosts: readonly string[];
  /** Posts to self-signed certificates of loopback and of the allowed hosts. */
  readonly insecure: boolean;
  /** Milliseconds until each further attempt. */
  readonly schedule: readonly number[];
  /** The delivery fault that `--deliver` simulates, which a receiver must tolerate. */
  readonly fault: "duplicate" | "late" | "out-of-order" | "drop-first" | "same-signature" | undefined;
  /** Whether the number of a paid order can be used again. */
  readonly duplicateInvoices: "accept" | "refuse";
  /** How clients send their credentials: as form fields, or with HTTP Basic too. */
  readonly tokenAuth: "post" | "basic";
  /** The host of the API and the checkout, as `URL.hostname` spells it, for links that are made on the dashboard. */
  readonly apiHost: string;
  /** Whether the dashboard is at the hosts of the API, and not at one of its own. */
  readonly plainHost: boolean;
  /** What the API does wrong on purpose. */
  readonly fail: readonly ApiFault[];
  readonly observe: (event: SandboxEvent) => void;
  readonly faulted: (error: unknown) => void;
}

/** Milliseconds until each further attempt; after six attempts the delivery has failed. */
export const SCHEDULE: readonly number[] = [5_000, 30_000, 120_000, 600_000, 3_600_000];

/** A sandbox that behaves as the service does, for this machine alone. */
export const AS_THE_SERVICE = {
  form: SERVICE_FORM,
  allowRemote: false,
  allowedHosts: [],
  insecure: false,
  schedule: SCHEDULE,
  fault: undefined,
  duplicateInvoices: "refuse",
  tokenAuth: "post",
  apiHost: "127.0.0.1",
  plainHost: false,
  fail: [],
} satisfies Partial<SandboxSetup>;
