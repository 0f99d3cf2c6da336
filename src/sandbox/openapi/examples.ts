/** The examples of the document, made by the code that answers requests and builds records. */
import { JsonNumber, type JsonObject } from "../../domain/json.ts";
import { SALE } from "../../domain/payment-link.ts";
import type { SampleOutcome } from "../../domain/outcome.ts";
import { sampleRecord } from "../../domain/sample-record.ts";
import { cardFor } from "../../domain/test-cards.ts";
import type { WellFormedRecord } from "../../domain/transaction-fields.ts";
import type { Merchant } from "../identity.ts";
import { createLink, linkResponse } from "../links.ts";

const NOW = new Date("2030-01-24T12:00:00.000Z");
const CHECKOUT = "https://checkout.service.example/pay";
const EXPIRY = "2030-01-31T12:00:00Z";

const MERCHANT: Merchant = {
  merchantId: "M-1",
  merchantName: "Example Shop",
  merchantStoreId: 1,
  clientId: "shop",
  clientSecret: "the client's secret",
  terminals: ["12345678"],
  token: "",
};

const COMMON = { currency: "GBP", terminalId: "12345678", customerName: "Ada Lovelace" };
const CALLBACKS = {
  callbackUrl: "https://shop.example/paid",
  failureCallbackUrl: "https://shop.example/failed",
};

const ONE_TIME: JsonObject = {
  amount: new JsonNumber("10.50"),
  ...COMMON,
  invoiceId: "INV-1001",
  expirationDate: EXPIRY,
  description: "Two coffees",
  transactionType: SALE,
  paymentSettings: { returnUrl: "https://shop.example/thanks", ...CALLBACKS },
};

const REUSABLE: JsonObject = {
  amount: new JsonNumber("0"),
  ...COMMON,
  invoiceId: "DONATION",
  expirationDate: EXPIRY,
  paymentSettings: CALLBACKS,
  linkOptions: {
    mode: "REUSABLE_VARIABLE",
    minAmount: new JsonNumber("5.00"),
    maxAmount: new JsonNumber("100.00"),
  },
};

const linkFrom = (request: JsonObject) =>
  linkResponse(
    createLink(request, MERCHANT, () => "69lXLdv9w", { now: () => NOW, own: false }),
    CHECKOUT,
    NOW,
  );

const LINK = linkFrom(ONE_TIME);

export const REQUEST_EXAMPLES = { oneTime: { value: ONE_TIME }, reusable: { value: REUSABLE } };
export const LINK_EXAMPLES = { oneTime: { value: LINK }, reusable: { value: linkFrom(REUSABLE) } };
export const LINKS_EXAMPLE = { totalCount: 1, records: [LINK] };
export const UPDATE_EXAMPLE = { description: "Three coffees", expirationDate: "2030-02-28T12:00:00Z" };

export function recordExample(outcome: SampleOutcome): WellFormedRecord {
  let ids = 0;
  return sampleRecord(
    {
      card: cardFor(outcome),
      transType: SALE,
      amount: new JsonNumber("10.50"),
      currency: COMMON.currency,
      reference: "INV-1001",
      terminalId: COMMON.terminalId,
      merchant: MERCHANT,
      softwareVersion: "1.0",
      number: "000001",
    },
    { newId: () => `6f9619ff-8b86-4011-b42d-${String(++ids).padStart(12, "0")}`, now: NOW },
  );
}
