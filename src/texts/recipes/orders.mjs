/**
 * Save this as orders.mjs. Each receiver in JavaScript does this with a verified webhook: it books the payment once, if it pays the
 * order. In production, orders and bookings are in a database.
 */

/**
 * What each order asks for, by the reference of its payment.
 * @type {Map<string, { minorUnits: bigint, currency: string }>}
 */
export const orders = new Map([["INV-1001", { minorUnits: 1000n, currency: "EUR" }]]);

/**
 * The uti of the transaction that has paid each order: a webhook can arrive twice, also at the same time, and a customer can pay
 * twice. In a database, make both columns unique, and insert with ON CONFLICT DO NOTHING; paylink check --books tests it.
 * @type {Map<string, string>}
 */
export const booked = new Map();

/**
 * The terminals whose payments are booked, such as "T-1": one key may sign for several shops. Empty for those of any.
 * transaction.merchantId tells merchants apart.
 */
export const terminals = new Set();

/**
 * Approved payments and parts, by their uti.
 * @type {Map<string, { outcome: string, reference: string, minorUnits: bigint }>}
 */
const payments = new Map();

/** @param {import("paylink-webhooks").VerifiedWebhook} webhook */
export function book({ outcome, transaction, amounts }) {
  const { uti, reference, terminalId } = transaction;
  const { minorUnits, currency } = amounts.amountTrans;
  if (outcome !== "APPROVED" && outcome !== "PARTIALLY_APPROVED") return;
  if (uti === undefined || reference === undefined || minorUnits === undefined) return;
  if (terminals.size > 0 && !terminals.has(terminalId)) return;
  const order = orders.get(reference);
  if (order === undefined || currency !== order.currency) return;
  payments.set(uti, { outcome, reference, minorUnits });
  // PARTIALLY_APPROVED pays a part of the order. The payment of the rest is APPROVED, and may arrive first.
  const own = [...payments].filter(([, payment]) => payment.reference === reference);
  const parts = own.filter(([, payment]) => payment.outcome === "PARTIALLY_APPROVED");
  const rest = parts.reduce((left, [, payment]) => left - payment.minorUnits, order.minorUnits);
  const paying = own.find(
    ([, payment]) => payment.outcome === "APPROVED" && [order.minorUnits, rest].includes(payment.minorUnits),
  );
  // A second payment of the order, if its uti is another one: look into it, the customer may get it back.
  if (paying === undefined || booked.has(reference)) return;
  booked.set(reference, paying[0]);
}
