/** The sandbox's ledger on disk: a payment and its webhook are stored together or not at all. */
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Payment } from "../../src/sandbox/store/rows.ts";
import { openLedger } from "../../src/sandbox/store/ledger.ts";
import { temporaryHome } from "../support/home.ts";

const payment = (uti: string): Payment => ({
  uti,
  linkId: "link",
  record: { uti, reference: `ref-${uti}`, transApproved: true, transCancelled: false },
  form: null,
});

const delivery = (uti: string) =>
  ({
    id: `delivery-${uti}`,
    linkId: "link",
    uti,
    url: "http://127.0.0.1:4000/",
    body: new Uint8Array([1]),
    state: "waiting",
    attempts: 0,
    tries: 0,
    due: 0,
  }) as const;

it("stores a unit whole or not at all", () => {
  const path = join(temporaryHome(), "sandbox.db");
  const ledger = openLedger(path);
  const pay = (uti: string): void =>
    ledger.write(() => {
      ledger.addDelivery(delivery(uti));
      ledger.addPayment(payment(uti));
    });
  pay("a");
  // The delivery is new, and the payment is not.
  const repeat = (): void =>
    ledger.write(() => {
      ledger.addDelivery(delivery("again"));
      ledger.addPayment(payment("a"));
    });
  expect(repeat).toThrow("UNIQUE");
  const stop = (): void =>
    ledger.write(() => {
      ledger.addDelivery(delivery("stopped"));
      throw new Error("stopped");
    });
  expect(stop).toThrow("stopped");
  pay("b");
  ledger.close();
  const stored = openLedger(path);
  onTestFinished(() => stored.close());
  const query = { limit: 9, now: new Date(0) };
  expect(stored.payments(query).rows.map(({ uti }) => uti)).toEqual(["b", "a"]);
  expect(stored.deliveries(query).rows.map(({ uti }) => uti)).toEqual(["b", "a"]);
});
