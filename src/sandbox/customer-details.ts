/** The customer's details: those that the merchant gave with the link, and those that the customer enters. */
import type { Problem } from "../domain/errors.ts";
import { textProblem } from "./entered-text.ts";
import type { Link } from "./links.ts";

/** The fields in the order of the form. */
export const CUSTOMER_FIELDS = [
  "email",
  "firstName",
  "lastName",
  "address1",
  "address2",
  "city",
  "postalcode",
  "country",
] as const;
export type CustomerField = (typeof CUSTOMER_FIELDS)[number];

/** Empty fields are left out. */
export type CustomerDetails = Readonly<Partial<Record<CustomerField, string>>>;

/** The labels of the fields on pages. */
export const CUSTOMER_LABELS: Readonly<Record<CustomerField, string>> = {
  email: "E-mail",
  firstName: "First name",
  lastName: "Last name",
  address1: "Address",
  address2: "Address line 2",
  city: "City",
  postalcode: "Postcode",
  country: "Country",
};

/** The longest entry, in characters. */
export const LONGEST_DETAIL = 200;

/** From the link's `customerDetails`, in which some fields have two spellings. */
export function givenDetails({ request }: Link): CustomerDetails {
  const { email, billingAddress = {} } = request.customerDetails ?? {};
  const { firstName, lastName, address1, addressLine1, address2, city } = billingAddress;
  const { postalcode, postalCode, country } = billingAddress;
  return filledIn({
    email,
    firstName,
    lastName,
    address1: address1 ?? addressLine1,
    address2,
    city,
    postalcode: postalcode ?? postalCode,
    country,
  });
}

/** The details as pages show them: a name, an e-mail address and a postal address. */
export const customerFacts = (
  details: CustomerDetails,
): readonly (readonly [term: string, text: string])[] => [
  ["Customer", joined(" ", details.firstName, details.lastName)],
  ["E-mail", details.email ?? ""],
  [
    "Address",
    joined(
      ", ",
      details.address1,
      details.address2,
      joined(" ", details.postalcode, details.city),
      details.country,
    ),
  ],
];

const joined = (separator: string, ...texts: readonly (string | undefined)[]): string =>
  texts.filter((text) => text !== undefined && text !== "").join(separator);

/** The details with a value. */
export function filledIn(details: {
  readonly [Field in CustomerField]?: string | undefined;
}): CustomerDetails {
  const filled: Partial<Record<CustomerField, string>> = {};
  for (const field of CUSTOMER_FIELDS) {
    const value = details[field]?.trim() ?? "";
    if (value !== "") filled[field] = value;
  }
  return filled;
}

/** The merchant's details win: the customer sees them, and cannot change them. */
export const detailsOfPayment = (link: Link, entered: CustomerDetails = {}): CustomerDetails => ({
  ...entered,
  ...givenDetails(link),
});

/** Each message is the end of a sentence that begins with the name of the field. */
export function detailProblems(entered: CustomerDetails = {}): Problem[] {
  return CUSTOMER_FIELDS.flatMap((at) => {
    const value = entered[at];
    const message =
      value === undefined ? undefined : (textProblem(value, LONGEST_DETAIL) ?? emailProblem(at, value));
    return message === undefined ? [] : [{ at, message }];
  });
}

const emailProblem = (field: CustomerField, value: string): string | undefined =>
  field === "email" && !/^[^\s@]+@[^\s@]+$/.test(value)
    ? "must be an address such as ada@shop.example"
    : undefined;
