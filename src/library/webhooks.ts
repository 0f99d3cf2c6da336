/** `paylink/webhooks`: verifies webhooks in an application, with this runtime's clock, network, files and random ids. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { emitWarning } from "node:process";
import { systemReason } from "../domain/system-reason.ts";
import { sendByFetch, keyringCache, requireUsableKeys } from "./key-options.ts";
import type {
  SignedWebhook,
  SignWebhookOptions,
  StrictOptions,
  StrictVerifier,
  StrictWebhook,
  VerifiedWebhook,
  Verifier,
  VerifierOptions,
  WebhookRequest,
} from "./types.ts";
import { sampleOf, signWebhookAt } from "./sample-transaction.ts";
import type { Transaction, TransactionByOutcome, TransactionOutcome } from "./transaction-types.ts";
import { createVerifierWith } from "./verifier.ts";
import { WebhookError } from "./webhook-error.ts";

export type {
  ExactAmount,
  ExactAmounts,
  HeaderFields,
  NodeRequest,
  PlainRequest,
  SignedWebhook,
  SignWebhookOptions,
  StrictOptions,
  StrictVerifier,
  StrictWebhook,
  VerifiedWebhook,
  Verifier,
  VerifierOptions,
  WebhookKey,
  WebhookKeys,
  WebhookRequest,
  WebRequest,
  WrappedRequest,
} from "./types.ts";
export type {
  ApprovedTransaction,
  CancelledTransaction,
  DeclinedTransaction,
  PartiallyApprovedTransaction,
  ReceivedTransaction,
  Transaction,
  TransactionByOutcome,
  TransactionOutcome,
  UnclearTransaction,
} from "./transaction-types.ts";
export { WebhookError, type RecordViolation, type WebhookErrorCode } from "./webhook-error.ts";
export type { Reason, Warning } from "../domain/reasons.ts";
export type { Check, Hint, Verdict } from "../signatures/verdict.ts";

const now = (): Date => new Date();

const openKeys = keyringCache({
  now,
  send: sendByFetch(fetch),
  readFile: async (path) => {
    try {
      return await readFile(path);
    } catch (error) {
      throw new WebhookError(
        "file_unreadable",
        `the key file ${path} cannot be read: ${systemReason(error)}.`,
        { cause: error },
      );
    }
  },
  warn: (warning) => emitWarning(warning, "PaylinkWarning"),
});

/** A verifier for an application that receives many webhooks. Throws a TypeError where an option is not valid. */
export function createVerifier(options: StrictOptions): StrictVerifier;
export function createVerifier(options: VerifierOptions): Verifier;
export function createVerifier(options: VerifierOptions): Verifier {
  requireUsableKeys(options.key);
  return createVerifierWith(options, { openKeys, now });
}

/** Verifies one webhook. Rejects with a WebhookError where it must not be acted on. */
export function verifyWebhook(request: WebhookRequest, options: StrictOptions): Promise<StrictWebhook>;
export function verifyWebhook(request: WebhookRequest, options: VerifierOptions): Promise<VerifiedWebhook>;
export async function verifyWebhook(
  request: WebhookRequest,
  options: VerifierOptions,
): Promise<VerifiedWebhook> {
  return createVerifierWith(options, { openKeys, now })(request);
}

/** A webhook signed as the service signs it, for tests. */
export function signWebhook(transaction: Transaction | string, options: SignWebhookOptions): SignedWebhook {
  return signWebhookAt(transaction, options, now);
}

/** A transaction with every field of its outcome and new ids, for tests; `changes` replaces fields. */
export function sampleTransaction<Outcome extends TransactionOutcome>(
  outcome: Outcome,
  changes?: Partial<TransactionByOutcome[Outcome]>,
): TransactionByOutcome[Outcome];
export function sampleTransaction(outcome: TransactionOutcome, changes: object = {}): object {
  return { ...sampleOf(outcome, { newId: () => randomUUID(), now }), ...changes };
}
