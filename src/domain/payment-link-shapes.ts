/** Links as types: requests and replies. A test holds their paths against the table of fields. */
import type { JsonNumber } from "../values/json.ts";
import type { Amount } from "./money.ts";

/** The request as it is sent: amounts in major units, numbers in their spelling, unknown members included. */
export interface PaymentLinkRequest extends RepeatedPart {
  readonly expirationDate?: string | undefined;
  readonly transactionType?: string | undefined;
  readonly merchantCustomData?: string | undefined;
  readonly periodic?:
    | { readonly periodicType?: "ucof" | undefined; readonly sequenceType?: "initial" | undefined }
    | undefined;
  readonly paymentSettings?: PaymentSettings | undefined;
  readonly customerDetails?:
    | { readonly email?: string | undefined; readonly billingAddress?: BillingAddress | undefined }
    | undefined;
  readonly linkOptions?: (LinkOptions & { readonly paymentReferenceMode?: string | undefined }) | undefined;
}

/** What a reply repeats of the request. */
export interface RepeatedPart {
  readonly amount: JsonNumber;
  readonly currency: string;
  readonly invoiceId?: string | undefined;
  readonly terminalId: string;
  readonly customerName: string;
  readonly description?: string | undefined;
  readonly linkOptions?: LinkOptions | undefined;
}

interface LinkOptions {
  readonly mode?: string | undefined;
  readonly minAmount?: Amount | undefined;
  readonly maxAmount?: Amount | undefined;
}

interface PaymentSettings {
  readonly returnUrl?: string | undefined;
  readonly failureReturnUrl?: string | undefined;
  readonly callbackUrl?: string | undefined;
  readonly failureCallbackUrl?: string | undefined;
}

/** The field list and the examples of the specification spell two members differently. */
interface BillingAddress {
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly address1?: string | undefined;
  readonly addressLine1?: string | undefined;
  readonly address2?: string | undefined;
  readonly city?: string | undefined;
  readonly postalcode?: string | undefined;
  readonly postalCode?: string | undefined;
  readonly country?: string | undefined;
}

/** The valid part of a request, without missing and invalid fields. */
export type PartialRequest = Partial<PaymentLinkRequest>;

/** A link with every required field, as a service builds it. */
export interface WellFormedLink extends RepeatedPart {
  readonly id: string;
  readonly createdDate: string;
  readonly expirationDate: string;
  readonly viewedDate: string | null;
  readonly attemptedDate: string | null;
  readonly paidDate: string | null;
  readonly cancelledDate: string | null;
  readonly status: string;
  readonly url: string;
}

/** As it came: an amount may be text, a date any text or number. */
type ShownDate = string | JsonNumber | null | undefined;

/** A link as received: without fields of a wrong type, with unknown members. */
export interface PaymentLink extends Omit<Partial<WellFormedLink>, "amount" | `${string}Date`> {
  readonly amount?: Amount | undefined;
  readonly createdDate?: ShownDate;
  readonly expirationDate?: ShownDate;
  readonly viewedDate?: ShownDate;
  readonly attemptedDate?: ShownDate;
  readonly paidDate?: ShownDate;
  readonly cancelledDate?: ShownDate;
}
