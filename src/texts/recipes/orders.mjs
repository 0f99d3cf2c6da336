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

/** They verify a card, or reserve money that a SALE takes later. To book reservations too, change it here. */
const TAKES_NOTHING = new Set(["VERIFICATION", "AUTH", "PRE-AUTH"]);

/**
 * What each payment took, by reference and uti. Of several records of one uti, the last counts.
 * @type {Map<string, Map<string, bigint>>}
 */
const taken = new Map();

/** @param {import("paylink-webhooks").VerifiedWebhook} webhook */
export function book({ outcome, transaction, amounts, record }) {
  const { uti = "", reference = "", terminalId } = transaction;
  const { minorUnits = 0n, currency } = amounts.amountTrans;
  const order = orders.get(reference);
  if (uti === "" || order === undefined || (terminals.size > 0 && !terminals.has(terminalId))) return;
  const { transType } = record ?? {};
  const type = typeof transType === "string" ? transType.trim() : "";
  const isApproved = outcome === "APPROVED" || outcome === "PARTIALLY_APPROVED";
  const takes = isApproved && !TAKES_NOTHING.has(type.toUpperCase());
  if (isApproved && !takes) console.log(`${type} takes no money: nothing to book for ${reference}`);
  const amount = takes && currency === order.currency ? minorUnits : 0n;
  const payments = (taken.get(reference) ?? new Map()).set(uti, amount);
  taken.set(reference, payments);
  const total = [...payments.values()].reduce((sum, one) => sum + one, 0n);
  // The customer may get it back.
  if (total > order.minorUnits) console.warn(`${reference}: more was paid than it asks for. Look into it`);
  // It is paid once one payment is what it asks for, or all of them add up to it. A later record of a payment takes no booking back.
  const isPaid = amount === order.minorUnits || total === order.minorUnits;
  if (isPaid && !booked.has(reference)) booked.set(reference, uti);
}
