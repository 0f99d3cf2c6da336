/** The examples of the OpenAPI document, each made once: links as the sandbox answers them, and records of payments. */
import { JsonNumber } from "../../values/json.ts";
import { SCOPE } from "../../domain/known-services.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link-shapes.ts";
import { SALE, VARIABLE_MODE } from "../../domain/payment-link.ts";
import { sampleRecord } from "../../sender/sample-record.ts";
import { TEST_CARDS, type TestCard } from "../../sender/test-cards.ts";
import { linkResponse } from "../links.ts";
import { UNTOUCHED } from "../store/ledger-rows.ts";

/** By the name of each; one alone needs no name. */
export type Examples = Readonly<Record<string, unknown>>;

const CREATED = new Date("2030-01-24T12:00:00Z");
const expirationDate = "2030-01-31T12:00:00Z";

const ORDER = {
  amount: new JsonNumber("10.50"),
  currency: "GBP",
  terminalId: "12345678",
  customerName: "Ada Lovelace",
  invoiceId: "INV-1001",
};
const paymentSettings = {
  callbackUrl: "https://shop.example/paid",
  failureCallbackUrl: "https://shop.example/failed",
};

/** The links that are asked for. */
export const REQUESTS = {
  oneTime: {
    ...ORDER,
    description: "Two coffees",
    expirationDate,
    transactionType: SALE,
    paymentSettings: { returnUrl: "https://shop.example/thanks", ...paymentSettings },
  },
  reusable: {
    ...ORDER,
    amount: new JsonNumber("0"),
    invoiceId: "DONATION",
    linkOptions: { mode: VARIABLE_MODE, minAmount: new JsonNumber("5"), maxAmount: new JsonNumber("100") },
    expirationDate,
    paymentSettings,
  },
} as const satisfies Readonly<Record<string, PaymentLinkRequest>>;

/** The link that is answered. */
const linkExample = (request: PaymentLinkRequest) =>
  linkResponse(
    {
      id: "69lXLdv9w",
      request,
      createdDate: CREATED,
      expirationDate,
      ...UNTOUCHED,
    },
    "https://checkout.service.example/pay",
    CREATED,
  );

export const LINKS = { oneTime: linkExample(REQUESTS.oneTime), reusable: linkExample(REQUESTS.reusable) };

export const PAGE = { totalCount: 1, records: [LINKS.oneTime] };

export const UPDATE = { description: "Three coffees", expirationDate: "2030-02-28T12:00:00Z" };

export const TOKEN_REQUEST = {
  grant_type: "client_credentials",
  scope: SCOPE,
  client_id: "shop",
  client_secret: "the client's secret",
};

export const TOKEN = {
  access_token: "sandbox_2f1c",
  token_type: "Bearer",
  expires_in: 3600,
  scope: SCOPE,
  refresh_token: "",
};

function recordExample(card: TestCard | undefined) {
  let ids = 0;
  const { amount, currency, terminalId, invoiceId: reference } = ORDER;
  const merchant = { merchantId: "M-1", merchantName: "Example Shop", merchantStoreId: 1 };
  const payment = { transType: SALE, amount, currency, terminalId, reference };
  return sampleRecord(
    { card, ...payment, merchant, softwareVersion: "1.0", number: "000001" },
    { newId: () => `6f9619ff-8b86-4011-b42d-${String(++ids).padStart(12, "0")}`, now: CREATED },
  );
}

export const RECORDS = {
  approved: recordExample(TEST_CARDS[0]),
  declined: recordExample(TEST_CARDS.find(({ outcome }) => outcome === "declined")),
  cancelled: recordExample(undefined),
};
