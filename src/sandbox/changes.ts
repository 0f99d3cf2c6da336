/** The changes that open pages learn about: rows of the ledger once they are durable, the clock, and the signing key. */
import type { Ledger } from "./ledger.ts";

export interface Change {
  readonly kind: "link" | "payment" | "delivery" | "clock" | "key";
  /** The row; without one, any row of the kind may have changed. */
  readonly id?: string;
  /** The link that the row belongs to. */
  readonly link?: string;
}

/** The same ledger, which also announces the rows that each unit has changed. */
export function watchLedger(ledger: Ledger, announce: (change: Change) => void): Ledger {
  let unit: Change[] = [];
  const linkChanged = (id: string): void => void unit.push({ kind: "link", id, link: id });
  const deliveryChanged = (id: string): void => {
    const link = ledger.findDelivery(id)?.linkId;
    unit.push({ kind: "delivery", id, ...(link === undefined ? {} : { link }) });
  };
  return {
    ...ledger,
    write: async (work) => {
      const changes: Change[] = [];
      await ledger.write(() => {
        unit = changes;
        work();
      });
      for (const change of changes) announce(change);
    },
    addLink: (link) => {
      ledger.addLink(link);
      linkChanged(link.id);
    },
    saveLink: (link) => {
      ledger.saveLink(link);
      linkChanged(link.id);
    },
    addPayment: (payment) => {
      ledger.addPayment(payment);
      unit.push({ kind: "payment", id: payment.uti, link: payment.linkId });
    },
    addDelivery: (delivery) => {
      ledger.addDelivery(delivery);
      unit.push({ kind: "delivery", id: delivery.id, link: delivery.linkId });
    },
    addAttempt: (attempt, state, due) => {
      ledger.addAttempt(attempt, state, due);
      deliveryChanged(attempt.deliveryId);
    },
    resend: (deliveryId, due) => {
      ledger.resend(deliveryId, due);
      deliveryChanged(deliveryId);
    },
    resendFailed: (due) => {
      ledger.resendFailed(due);
      unit.push({ kind: "delivery" });
    },
  };
}
