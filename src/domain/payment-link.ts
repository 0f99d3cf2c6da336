/** The request that creates a payment link: its fields, the rule of each, and the values that the specification fixes. */

import * as z from "zod/mini";
import { currencyLetters } from "./currency.ts";
import { duration } from "./duration.ts";
import { isJsonNumber, joinPath, type JsonNumber } from "./json.ts";
import { type Amount, isDecimal, signOf } from "./money.ts";
import { must, onlyObject } from "./schema.ts";
import { isWebAddress } from "./web-address.ts";
import { isUtcDateTime } from "./when.ts";

/** The mode in which bounds apply (Endpoints rule 9); also the default mode of `linkOptions`. */
export const VARIABLE_MODE = "REUSABLE_VARIABLE";
/** The service's default for `paymentReferenceMode`. */
export const DEFAULT_REFERENCE_MODE = "FIXED";
export const SALE = "SALE";
export const VERIFICATION = "VERIFICATION";
/** The only `periodic` the service supports: it starts a recurring arrangement (Endpoints rule 8). */
export const SUBSCRIPTION_START = { periodicType: "ucof", sequenceType: "initial" } as const;
/** The lifetime of a reusable link without `expirationDate` (Endpoints rule 4). */
export const REUSABLE_LIFETIME = duration(3, "y");

const nonEmpty = z.string(must("must be text")).check(z.regex(/\S/, "must not be empty"));
// Each schema takes time to make: optional ones are made once for all fields (startup bench).
const optionalText = z.optional(z.string(must("must be text")));
const optionalNonEmpty = z.optional(nonEmpty);
const optionalWebAddress = z.optional(
  z
    .string(must("must be an absolute http or https URL"))
    .check(
      z.refine(isWebAddress, "must be an absolute http or https URL, such as https://shop.example/paid"),
    ),
);
const email = z
  .string(must("must be an e-mail address"))
  .check(z.regex(/^[^\s@]+@[^\s@]+$/, "must be an e-mail address, such as ada@shop.example"));
const expirationDate = z
  .string(must("must be an ISO 8601 date-time"))
  .check(z.refine(isUtcDateTime, "must be an ISO 8601 date-time in UTC, such as 2030-01-31T12:00:00Z"));

const amount = z.custom<JsonNumber>(
  (value) => isJsonNumber(value) && signOf(value) >= 0,
  must("must be a number of 0 or more, such as 10.00"),
);
/** The field list types bounds as strings, the example writes numbers: both are accepted and kept. */
const bound = z.custom<Amount>(
  (value) => (isJsonNumber(value) ? signOf(value) >= 0 : typeof value === "string" && isDecimal(value)),
  must("must be a decimal of 0 or more, such as 5.00"),
);

const periodic = onlyObject(
  z.looseObject({
    periodicType: z.optional(z.literal(SUBSCRIPTION_START.periodicType, must("must be ucof"))),
    sequenceType: z.optional(z.literal(SUBSCRIPTION_START.sequenceType, must("must be initial"))),
  }),
);

const paymentSettings = onlyObject(
  z.looseObject({
    returnUrl: optionalWebAddress,
    failureReturnUrl: optionalWebAddress,
    callbackUrl: optionalWebAddress,
    failureCallbackUrl: optionalWebAddress,
  }),
);

/** Both spellings where the field list and the examples differ; the format of `country` is not specified. */
const billingAddress = onlyObject(
  z.looseObject({
    firstName: optionalText,
    lastName: optionalText,
    address1: optionalText,
    addressLine1: optionalText,
    address2: optionalText,
    city: optionalText,
    postalcode: optionalText,
    postalCode: optionalText,
    country: optionalText,
  }),
);

const customerDetails = onlyObject(
  z.looseObject({
    email: z.optional(email),
    billingAddress: z.optional(billingAddress),
  }),
);

const linkOptions = onlyObject(
  z.looseObject({
    mode: optionalNonEmpty,
    minAmount: z.optional(bound),
    maxAmount: z.optional(bound),
    paymentReferenceMode: optionalNonEmpty,
  }),
);

/**
 * The request as it is sent: amounts in major units, numbers in their spelling, unknown fields included. The schema
 * transforms nothing, so a valid request is sent unchanged. `checkRequest` has the rules between fields.
 */
export const paymentLinkRequest = z.looseObject({
  amount,
  currency: currencyLetters,
  invoiceId: optionalText,
  terminalId: nonEmpty,
  expirationDate: z.optional(expirationDate),
  customerName: nonEmpty,
  description: optionalText,
  transactionType: optionalNonEmpty,
  merchantCustomData: optionalText,
  periodic: z.optional(periodic),
  paymentSettings: z.optional(paymentSettings),
  customerDetails: z.optional(customerDetails),
  linkOptions: z.optional(linkOptions),
});
export type PaymentLinkRequest = z.infer<typeof paymentLinkRequest>;

/** The valid part of a request, without missing and invalid fields. A valid request does not need it. */
export const partialRequest = z.lazy(() => z.partial(paymentLinkRequest));
export type PartialRequest = z.infer<typeof partialRequest>;

/** What can be changed of a link. */
export const paymentLinkUpdate = z.strictObject({
  description: optionalText,
  expirationDate: z.optional(expirationDate),
});

/** The path of every field of the specification that holds a single value, in its order: `linkOptions.minAmount`. */
export const requestFields = (): readonly string[] => [...leaves("", paymentLinkRequest)];

function* leaves(path: string, schema: z.core.$ZodType): Generator<string> {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodMiniObject)) yield path;
  else for (const [name, member] of Object.entries(inner.shape)) yield* leaves(joinPath(path, name), member);
}

/** The schema inside the optional and the object check. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodMiniOptional) return unwrapped(schema._zod.def.innerType);
  return schema instanceof z.ZodMiniPipe ? unwrapped(schema._zod.def.out) : schema;
}
