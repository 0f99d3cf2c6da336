/** The examples of the document. */

const COMMON = { currency: "GBP", terminalId: "12345678", customerName: "Ada Lovelace" };
const CALLBACKS = {
  callbackUrl: "https://shop.example/paid",
  failureCallbackUrl: "https://shop.example/failed",
};
const CREATED = {
  id: "69lXLdv9w",
  createdDate: "2030-01-24T12:00:00.000Z",
  expirationDate: "2030-01-31T12:00:00Z",
  viewedDate: null,
  attemptedDate: null,
  paidDate: null,
  cancelledDate: null,
  status: "active",
  url: "https://checkout.service.example/pay?r=69lXLdv9w",
};
const ORDER = { amount: 10.5, ...COMMON, invoiceId: "INV-1001", description: "Two coffees" };
const DONATION = {
  amount: 0,
  ...COMMON,
  invoiceId: "DONATION",
  linkOptions: { mode: "REUSABLE_VARIABLE", minAmount: 5, maxAmount: 100 },
};

export const REQUEST = {
  ...ORDER,
  expirationDate: CREATED.expirationDate,
  transactionType: "SALE",
  paymentSettings: { returnUrl: "https://shop.example/thanks", ...CALLBACKS },
};
export const REUSABLE_REQUEST = {
  ...DONATION,
  expirationDate: CREATED.expirationDate,
  paymentSettings: CALLBACKS,
};
export const LINK = { ...CREATED, ...ORDER };
export const REUSABLE_LINK = { ...CREATED, ...DONATION };

/** What the record of every attempt has. */
const ATTEMPT = {
  uti: "6f9619ff-8b86-4011-b42d-000000000001",
  transType: "SALE",
  transApproved: false,
  transPartiallyApproved: false,
  transCancelled: true,
  amountTrans: 10.5,
  amountGratuity: 0,
  amountCashback: 0,
  cvmSignatureRequired: false,
  cvmPinVerified: false,
  transCurrencyCode: "GBP",
  terminalId: "12345678",
  merchantId: "M-1",
  softwareVersion: "1.0",
  receiptNumber: "000001",
  retrievalReferenceNumber: "000000000001",
  stan: "000001",
  cardPan: "************1111",
  cardStartDate: "0124",
  cardScheme: "VISA",
  cardPanSequenceNumber: "00",
  cardType: "EMV",
  emvAid: "A0000000031010",
  emvTsi: "0000",
  emvTvr: "0000000000",
  emvCryptogram: "",
  reference: "INV-1001",
  merchantName: "Example Shop",
  transDateTime: "2030-01-24T12:00:00.000Z",
  createdDateTime: "2030-01-24T12:00:00.000Z",
  merchantStoreId: 1,
  status: "Complete",
};
export const CANCELLED = ATTEMPT;
export const DECLINED = {
  ...ATTEMPT,
  transCancelled: false,
  paymentId: "6f9619ff-8b86-4011-b42d-000000000002",
  responseCode: "05",
  merchantTokenId: "6f9619ff-8b86-4011-b42d-000000000003",
  emvCryptogramType: "AAC",
};
export const APPROVED = {
  ...DECLINED,
  transApproved: true,
  responseCode: "00",
  authorisationCode: "000001",
  emvCryptogramType: "ARQC",
};
