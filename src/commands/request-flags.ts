/** The flags that describe a payment link: `create` sends them as one link, `bulk` as the defaults of its rows. */
import {
  linkFieldAt,
  FIELD_OF_FLAG,
  flagName,
  VALUE_FLAGS,
  type ValueFlag,
} from "../domain/payment-link-field-lookup.ts";
import { type Flag, flag, group, lines, needs, text, toggle } from "./command.ts";

/** Its value is read with the field, at the time of the request. */
function fieldFlag(name: ValueFlag): Flag<string> {
  const {
    value = "text",
    meaning,
    typed,
    default: otherwise,
    note,
    example,
    choices,
    multiline,
  } = linkFieldAt(FIELD_OF_FLAG[name]);
  const words = [
    meaning,
    ...(typed === undefined || choices !== undefined ? [] : [`: ${typed}`]),
    ...(note === undefined ? [] : [`; ${note}`]),
    ...(otherwise === undefined ? [] : [` (default: ${otherwise})`]),
  ];
  const more = {
    ...(example === undefined ? {} : { example }),
    ...(choices === undefined ? {} : { choices }),
  };
  return flag(`${flagName(name)} <${value}>`, words.join(""), multiline === true ? lines : text, more);
}

/** The flags of the fields whose path begins so. */
const fieldFlags = (prefix: string) =>
  Object.fromEntries(
    VALUE_FLAGS.filter((name) =>
      prefix === "" ? !FIELD_OF_FLAG[name].includes(".") : FIELD_OF_FLAG[name].startsWith(prefix),
    ).map((name) => [name, fieldFlag(name)] as const),
  );

const other = {
  subscription: toggle("--subscription", "the first payment of a subscription (amount 0, type VERIFICATION)"),
  reusable: toggle("--reusable", "a link that can be paid many times"),
  from: flag("--from <file>", "a JSON request as the base (- for stdin); flags override it", text),
};

export const requestFlags = {
  ...group("The payment:", { ...fieldFlags(""), subscription: other.subscription }),
  ...group("A reusable link:", { reusable: other.reusable, ...fieldFlags("linkOptions.") }),
  ...group("Addresses:", fieldFlags("paymentSettings.")),
  ...group("The customer:", fieldFlags("customerDetails.")),
  ...group("The request:", { from: other.from }),
} as Readonly<Record<ValueFlag, Flag<string>>> & typeof other;

/** Without `--reusable`, an option of a reusable link would turn a one-time link into one that lives for years. */
export const reusableNeeded = needs(["mode", "minAmount", "maxAmount", "referenceMode"], ["reusable"]);
