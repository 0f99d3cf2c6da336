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

/** @param {import("paylink-webhooks").VerifiedWebhook} webhook */
export function book({ outcome, transaction, amounts }) {
  const { uti, reference, terminalId } = transaction;
  const { amountTrans } = amounts;
  // PARTIALLY_APPROVED pays only a part of the order.
  if (outcome !== "APPROVED" || uti === undefined || reference === undefined) return;
  if (terminals.size > 0 && !terminals.has(terminalId)) return;
  const order = orders.get(reference);
  if (order === undefined) return;
  if (amountTrans.minorUnits !== order.minorUnits || amountTrans.currency !== order.currency) return;
  // A second payment of the order, if its uti is another one: look into it, the customer may get it back.
  if (booked.has(reference)) return;
  booked.set(reference, uti);
}
