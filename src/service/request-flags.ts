/** The flags that describe a link, and the field of each. */

/** The field of each flag. */
export const FIELD_OF = {
  amount: "amount",
  currency: "currency",
  terminalId: "terminalId",
  customerName: "customerName",
  expires: "expirationDate",
  invoiceId: "invoiceId",
  description: "description",
  customData: "merchantCustomData",
  type: "transactionType",
  returnUrl: "paymentSettings.returnUrl",
  failureReturnUrl: "paymentSettings.failureReturnUrl",
  callbackUrl: "paymentSettings.callbackUrl",
  failureCallbackUrl: "paymentSettings.failureCallbackUrl",
  email: "customerDetails.email",
  firstName: "customerDetails.billingAddress.firstName",
  lastName: "customerDetails.billingAddress.lastName",
  address1: "customerDetails.billingAddress.address1",
  address2: "customerDetails.billingAddress.address2",
  city: "customerDetails.billingAddress.city",
  postcode: "customerDetails.billingAddress.postalcode",
  country: "customerDetails.billingAddress.country",
  mode: "linkOptions.mode",
  minAmount: "linkOptions.minAmount",
  maxAmount: "linkOptions.maxAmount",
  referenceMode: "linkOptions.paymentReferenceMode",
} as const;
export type ValueFlag = keyof typeof FIELD_OF;

/** What the flags of a request hold, as they were typed. */
export type RequestFlags = { readonly [Flag in ValueFlag]?: string | undefined } & {
  readonly subscription?: boolean | undefined;
  readonly reusable?: boolean | undefined;
  /** The file of the base request. */
  readonly from?: string | undefined;
};

export const VALUE_FLAGS = Object.keys(FIELD_OF) as ValueFlag[];

/** The flag as it is typed: `--terminal-id`. */
export const nameOf = (flag: string): string =>
  `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
