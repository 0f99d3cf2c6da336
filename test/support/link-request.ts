/** A request that every service takes, and the answer that the specification gives to it. */
import type { PaymentLinkRequest } from "../../src/domain/payment-link-shapes.ts";
import { JsonNumber } from "../../src/values/json.ts";

export const REQUEST: PaymentLinkRequest = {
  amount: new JsonNumber("10.00"),
  currency: "EUR",
  terminalId: "1234567890",
  customerName: "Ada Lovelace",
  expirationDate: "2030-01-31T12:00:00Z",
};

/** Spelled as no library would spell it, so that a copy that was parsed in between shows. */
export const ANSWER = `{ "id":"L1", "amount": 10.00,"currency":"EUR","terminalId":"1234567890","customerName":"Ada Lovelace",
 "createdDate":"2026-01-31T12:00:00.123Z","expirationDate":"2030-01-31T12:00:00Z","viewedDate":null,"attemptedDate":null,
 "paidDate":null,"cancelledDate":null,"status":"active","url":"https://pay.example/checkout?r=L1","extra":1.0e2}`;
