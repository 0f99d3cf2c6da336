/** `paylink-webhooks`: verifies webhooks in an application, with this runtime's clock, network, files and random ids. */
import { randomUUID } from "node:crypto";
import { sendByFetch, type KeyringAccess } from "./key-options.ts";
import type {
  SignedWebhook,
  SignWebhookOptions,
  StrictVerifier,
  Verifier,
  VerifierOptions,
} from "./types.ts";
import { sampleOf, signWebhookAt } from "./sample-transaction.ts";
import type { Transaction, TransactionByOutcome, TransactionOutcome } from "./transaction-types.ts";
import { createVerifierWith } from "./verifier.ts";

export type {
  ExactAmount,
  LambdaEvent,
  NetlifyEvent,
  PlainRequest,
  SignedWebhook,
  SignWebhookOptions,
  StrictVerifier,
  StrictWebhook,
  VerifiedWebhook,
  Verifier,
  VerifierOptions,
  WebhookKey,
  WebhookRequest,
} from "./types.ts";
export type {
  ApprovedTransaction,
  CancelledTransaction,
  DeclinedTransaction,
  PartiallyApprovedTransaction,
  Transaction,
  TransactionOutcome,
  UnclearTransaction,
} from "./transaction-types.ts";
export { WebhookError, type RecordViolation, type WebhookErrorCode } from "./webhook-error.ts";
export type { PublicProblem } from "../domain/reasons.ts";
export type { Verdict } from "../signatures/verdict.ts";

const now = (): Date => new Date();

/** Workers with an early compatibility date have neither files nor warnings: both are looked up when they are needed. */
const access: KeyringAccess = {
  now,
  send: sendByFetch(fetch),
  readFile: (path) => {
    const files = globalThis.process?.getBuiltinModule?.("node:fs");
    if (files === undefined)
      throw new Error("this runtime has no file system: pass the text of the key, not its path");
    return files.readFileSync(path);
  },
  warn: (warning) => {
    void import("node:process").then((runtime) => {
      if ("emitWarning" in runtime) runtime.emitWarning(warning, "PaylinkWarning");
    });
  },
};

/**
 * Makes a verifier, once, when the application starts. Throws a TypeError where an option is not valid or the key
 * can never verify a webhook.
 *
 * @example
 * const verify = createVerifier({ key: process.env.PAYLINK_WEBHOOK_KEY });
 *
 * export async function POST(request) {
 *   try {
 *     const { outcome, transaction, amounts } = await verify(request);
 *     if (outcome === "APPROVED") await bookOnce(transaction.uti, transaction.reference, amounts.amountTrans);
 *     return new Response();
 *   } catch (error) {
 *     return new Response(null, { status: error instanceof WebhookError ? error.status : 500 });
 *   }
 * }
 */
export function createVerifier(options: VerifierOptions & { readonly strict: true }): StrictVerifier;
export function createVerifier(options: VerifierOptions): Verifier;
export function createVerifier(options: VerifierOptions): Verifier {
  return createVerifierWith(options, access);
}

/**
 * Signs a webhook as the service does, for tests. A text is the body as it is. Throws a TypeError if the key is not a private RSA key
 * or the url is not absolute.
 *
 * @example
 * const webhook = signWebhook(sampleTransaction("APPROVED"), { key: privateKey, url: "http://127.0.0.1:3000/webhooks" });
 * const response = await fetch(webhook.url, webhook);
 */
export function signWebhook(transaction: Transaction | string, options: SignWebhookOptions): SignedWebhook {
  return signWebhookAt(transaction, options, now);
}

/**
 * A payment of EUR 10.00 for INV-1001 with every field of its outcome and new ids, for tests; `changes` replaces fields. Throws a
 * TypeError for an unknown outcome.
 *
 * @example
 * const transaction = sampleTransaction("DECLINED", { reference: "A-1", amountTrans: 12.34 });
 */
export function sampleTransaction<Outcome extends TransactionOutcome>(
  outcome: Outcome,
  changes?: Partial<TransactionByOutcome[Outcome]>,
): TransactionByOutcome[Outcome];
export function sampleTransaction(outcome: TransactionOutcome, changes: object = {}): object {
  return { ...sampleOf(outcome, { newId: () => randomUUID(), now }), ...changes };
}
