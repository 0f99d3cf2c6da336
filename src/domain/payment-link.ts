/** The request that creates a payment link: its fields, the rule of each, and the values the specification fixes. */

import * as z from "zod";
import { currencyLetters } from "./currency.ts";
import { duration } from "./duration.ts";
import { isJsonNumber, joinPath, type JsonNumber } from "./json.ts";
import { type Amount, compareAmounts, isDecimal } from "./money.ts";
import { must, onlyObject } from "./shape.ts";
import { parseWebAddress } from "./web-address.ts";
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
const filled = z.string(must("must be text")).regex(/\S/, { error: "must not be empty" });
const webAddress = z
  .string(must("must be an absolute http or https URL"))
  .refine((value) => parseWebAddress(value) !== undefined, {
    error: "must be an absolute http or https URL, such as https://shop.example/paid",
  });
const email = z
  .string(must("must be an e-mail address"))
  .regex(/^[^\s@]+@[^\s@]+$/, { error: "must be an e-mail address, such as ada@shop.example" });
const expirationDate = z
  .string(must("must be an ISO 8601 date-time"))
  .refine(isUtcDateTime, { error: "must be an ISO 8601 date-time in UTC, such as 2030-01-31T12:00:00Z" });

const amount = z.custom<JsonNumber>(
  (value) => isJsonNumber(value) && compareAmounts(value, "0") >= 0,
  must("must be a number of 0 or more, such as 10.00"),
);
/** The field list types bounds as strings, the example writes numbers: either is taken as it comes. */
const bound = z.custom<Amount>(
  (value) =>
    isJsonNumber(value) ? compareAmounts(value, "0") >= 0 : typeof value === "string" && isDecimal(value),
  must("must be a decimal of 0 or more, such as 5.00"),
);

const periodic = onlyObject(
  z.looseObject({
    periodicType: z.literal(SUBSCRIPTION_START.periodicType, must("must be ucof")).optional(),
    sequenceType: z.literal(SUBSCRIPTION_START.sequenceType, must("must be initial")).optional(),
  }),
);

const paymentSettings = onlyObject(
  z.looseObject({
    returnUrl: webAddress.optional(),
    failureReturnUrl: webAddress.optional(),
    callbackUrl: webAddress.optional(),
    failureCallbackUrl: webAddress.optional(),
  }),
);

/** Both spellings where the field list and the examples differ; the format of `country` is not fixed. */
const billingAddress = onlyObject(
  z.looseObject({
    firstName: text.optional(),
    lastName: text.optional(),
    address1: text.optional(),
    addressLine1: text.optional(),
    address2: text.optional(),
    city: text.optional(),
    postalcode: text.optional(),
    postalCode: text.optional(),
    country: text.optional(),
  }),
);

const customerDetails = onlyObject(
  z.looseObject({ email: email.optional(), billingAddress: billingAddress.optional() }),
);

const linkOptions = onlyObject(
  z.looseObject({
    mode: filled.optional(),
    minAmount: bound.optional(),
    maxAmount: bound.optional(),
    paymentReferenceMode: filled.optional(),
  }),
);

/**
 * The request as it is sent; amounts in major units, numbers as they are spelled, unknown fields untouched. It
 * transforms nothing, so that what passes can be sent as it came. The rules between fields are `checkRequest`'s.
 */
export const paymentLinkRequest = z.looseObject({
  amount,
  currency: currencyLetters,
  invoiceId: text.optional(),
  terminalId: filled,
  expirationDate: expirationDate.optional(),
  customerName: filled,
  description: text.optional(),
  transactionType: filled.optional(),
  merchantCustomData: text.optional(),
  periodic: periodic.optional(),
  paymentSettings: paymentSettings.optional(),
  customerDetails: customerDetails.optional(),
  linkOptions: linkOptions.optional(),
});
export type PaymentLinkRequest = z.infer<typeof paymentLinkRequest>;

/** Every single value of a request by its path (`linkOptions.minAmount`), each with the schema that holds its rule. */
const FIELDS = new Map(leaves("", paymentLinkRequest));

/** The path of every field the specification knows, in its order. */
export const REQUEST_FIELDS: readonly string[] = [...FIELDS.keys()];

/**
 * The first thing wrong with one value by the rule of its field: "must be …". Undefined where nothing is, where the
 * value is undefined and may be, and where the field is unknown.
 */
export function firstProblem(field: string, value: unknown): string | undefined {
  const schema = FIELDS.get(field);
  return schema && z.safeParse(schema, value).error?.issues[0]?.message;
}

function* leaves(path: string, schema: z.core.$ZodType): Generator<[string, z.core.$ZodType]> {
  const present = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  const inner = present instanceof z.ZodPipe ? present.out : present;
  if (!(inner instanceof z.ZodObject)) yield [path, schema];
  else for (const name of Object.keys(inner.shape)) yield* leaves(joinPath(path, name), inner.shape[name]);
}
