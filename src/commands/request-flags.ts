/** The flags that describe a payment link: `create` sends them as one link, `bulk` as the defaults of its rows. */
import { TRANSACTION_TYPES } from "../domain/known-services.ts";
import { flag, group, needs, text, toggle } from "./command.ts";

/** Their values are read with the field of each, at the time of the request. */
export const requestFlags = {
  ...group("The payment:", {
    amount: flag("--amount <decimal>", "what the customer pays", text, { example: "10" }),
    currency: flag("--currency <code>", "three letters of ISO 4217", text, { example: "EUR" }),
    terminalId: flag("--terminal-id <id>", "the terminal of the payment", text),
    customerName: flag("--customer-name <name>", "who pays", text),
    expires: flag(
      "--expires <when>",
      "a date (the end of it), ISO 8601, or a time from now (default: 7d; the service sets it for a reusable link)",
      text,
    ),
    invoiceId: flag(
      "--invoice-id <id>",
      "your order number; the base of a reusable link's payment references",
      text,
      { example: "DONATION" },
    ),
    description: flag("--description <text>", "what the customer pays for", text),
    type: flag(
      "--type <type>",
      "the transaction type: one of these, or another that the service supports",
      text,
      {
        choices: TRANSACTION_TYPES,
      },
    ),
    customData: flag("--custom-data <text>", "free-form text stored with the transaction", text),
    subscription: toggle(
      "--subscription",
      "the first payment of a subscription (amount 0, type VERIFICATION)",
    ),
  }),
  ...group("A reusable link:", {
    reusable: toggle(
      "--reusable",
      "a link that can be paid many times (amount 0: the customer enters the amount)",
    ),
    mode: flag("--mode <mode>", "the link's mode (default: REUSABLE_VARIABLE)", text),
    minAmount: flag("--min-amount <decimal>", "the smallest amount that a customer may enter", text, {
      example: "5",
    }),
    maxAmount: flag("--max-amount <decimal>", "the largest amount that a customer may enter", text, {
      example: "500",
    }),
    referenceMode: flag(
      "--reference-mode <mode>",
      "how the payment reference is handled (the service's default: FIXED)",
      text,
    ),
  }),
  ...group("Addresses:", {
    returnUrl: flag("--return-url <url>", "where the customer returns after a successful payment", text),
    failureReturnUrl: flag(
      "--failure-return-url <url>",
      "where the customer returns after a failed payment",
      text,
    ),
    callbackUrl: flag(
      "--callback-url <url>",
      "receives the webhooks, also those of failed payments without --failure-callback-url",
      text,
    ),
    failureCallbackUrl: flag(
      "--failure-callback-url <url>",
      "receives the webhooks of failed payments",
      text,
    ),
  }),
  ...group("The customer:", {
    email: flag("--email <address>", "e-mail address", text),
    firstName: flag("--first-name <name>", "first name", text),
    lastName: flag("--last-name <name>", "last name", text),
    address1: flag("--address1 <line>", "first address line", text),
    address2: flag("--address2 <line>", "second address line", text),
    city: flag("--city <city>", "city", text),
    postcode: flag("--postcode <code>", "postcode", text),
    country: flag("--country <country>", "country", text),
  }),
  ...group("The request:", {
    from: flag("--from <file>", "a JSON request as the base (- for stdin); flags override it", text),
  }),
};

/** Without `--reusable`, an option of a reusable link would turn a one-time link into one that lives for years. */
export const reusableNeeded = needs(["mode", "minAmount", "maxAmount", "referenceMode"], ["reusable"]);
