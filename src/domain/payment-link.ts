/** The request that creates a payment link: its fields, the rule of each, and the values the specification fixes. */

import * as z from "zod/mini";
import { currencyLetters } from "./currency.ts";
import { duration } from "./duration.ts";
import { isJsonNumber, joinPath, type JsonNumber } from "./json.ts";
import { type Amount, isDecimal, signOf } from "./money.ts";
import { must, onlyObject } from "./shape.ts";
import { isWebAddress } from "./web-address.ts";
import { isUtcDateTime } from "./when.ts";

/** The mode under which bounds apply (Endpoints rule 9), and the one that `linkOptions` get where none is given. */
export const VARIABLE_MODE = "REUSABLE_VARIABLE";
/** What the service takes where `paymentReferenceMode` is omitted. */
export const DEFAULT_REFERENCE_MODE = "FIXED";
export const SALE = "SALE";
export const VERIFICATION = "VERIFICATION";
/** The only `periodic` the service supports: it starts a recurring arrangement (Endpoints rule 8). */
export const SUBSCRIPTION_START = { periodicType: "ucof", sequenceType: "initial" } as const;
/** How long a reusable link lives where `expirationDate` is omitted (Endpoints rule 4). */
export const REUSABLE_LIFETIME = duration(3, "y");

const text = z.string(must("must be text"));
const filled = z.string(must("must be text")).check(z.regex(/\S/, "must not be empty"));
const webAddress = () =>
  z
    .string(must("must be an absolute http or https URL"))
    .check(
      z.refine(isWebAddress, "must be an absolute http or https URL, such as https://shop.example/paid"),
    );
const email = () =>
  z
    .string(must("must be an e-mail address"))
    .check(z.regex(/^[^\s@]+@[^\s@]+$/, "must be an e-mail address, such as ada@shop.example"));
const expirationDate = z
  .string(must("must be an ISO 8601 date-time"))
  .check(z.refine(isUtcDateTime, "must be an ISO 8601 date-time in UTC, such as 2030-01-31T12:00:00Z"));

const amount = z.custom<JsonNumber>(
  (value) => isJsonNumber(value) && signOf(value) >= 0,
  must("must be a number of 0 or more, such as 10.00"),
);
/** The field list types bounds as strings, the example writes numbers: either is taken as it comes. */
const bound = () =>
  z.custom<Amount>(
    (value) => (isJsonNumber(value) ? signOf(value) >= 0 : typeof value === "string" && isDecimal(value)),
    must("must be a decimal of 0 or more, such as 5.00"),
  );

// Each made once: making a schema takes a start longer than using it.
const optionalText = z.optional(text);
const optionalFilled = z.optional(filled);

const periodic = onlyObject(() =>
  z.looseObject({
    periodicType: z.optional(z.literal(SUBSCRIPTION_START.periodicType, must("must be ucof"))),
    sequenceType: z.optional(z.literal(SUBSCRIPTION_START.sequenceType, must("must be initial"))),
  }),
);

const paymentSettings = onlyObject(() => {
  const address = z.optional(webAddress());
  return z.looseObject({
    returnUrl: address,
    failureReturnUrl: address,
    callbackUrl: address,
    failureCallbackUrl: address,
  });
});

/** Both spellings where the field list and the examples differ; the format of `country` is not fixed. */
const billingAddress = () =>
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
  });

const customerDetails = onlyObject(() =>
  z.looseObject({
    email: z.optional(email()),
    billingAddress: z.optional(onlyObject(billingAddress)),
  }),
);

const linkOptions = onlyObject(() => {
  const optionalBound = z.optional(bound());
  return z.looseObject({
    mode: optionalFilled,
    minAmount: optionalBound,
    maxAmount: optionalBound,
    paymentReferenceMode: optionalFilled,
  });
});

/**
 * The request as it is sent; amounts in major units, numbers as they are spelled, unknown fields untouched. It
 * transforms nothing, so that what passes can be sent as it came. The rules between fields are `checkRequest`'s.
 */
export const paymentLinkRequest = z.looseObject({
  amount,
  currency: currencyLetters,
  invoiceId: optionalText,
  terminalId: filled,
  expirationDate: z.optional(expirationDate),
  customerName: filled,
  description: optionalText,
  transactionType: optionalFilled,
  merchantCustomData: optionalText,
  periodic: z.optional(periodic),
  paymentSettings: z.optional(paymentSettings),
  customerDetails: z.optional(customerDetails),
  linkOptions: z.optional(linkOptions),
});
export type PaymentLinkRequest = z.infer<typeof paymentLinkRequest>;

/** The path of every single value that the specification knows, in its order: `linkOptions.minAmount`. */
export const requestFields = (): readonly string[] => [...leaves("", paymentLinkRequest)];

function* leaves(path: string, schema: z.core.$ZodType): Generator<string> {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodMiniObject)) yield path;
  else for (const [name, member] of Object.entries(inner.shape)) yield* leaves(joinPath(path, name), member);
}

/** The schema of a value that is there. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodMiniOptional) return unwrapped(schema._zod.def.innerType);
  if (schema instanceof z.ZodMiniLazy) return unwrapped(schema._zod.innerType);
  return schema instanceof z.ZodMiniPipe ? unwrapped(schema._zod.def.out) : schema;
}
