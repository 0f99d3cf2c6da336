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
 * The order that each transaction pays, by its uti: a webhook can arrive twice. A unique column does the same.
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
  if (outcome !== "APPROVED" || uti === undefined || reference === undefined || booked.has(uti)) return;
  if (terminals.size > 0 && !terminals.has(terminalId)) return;
  const order = orders.get(reference);
  if (order === undefined) return;
  if (amountTrans.minorUnits !== order.minorUnits || amountTrans.currency !== order.currency) return;
  booked.set(uti, reference);
}
