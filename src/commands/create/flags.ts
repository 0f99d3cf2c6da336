/** The flags of `paylink create`. */
import type { FlagsOf, NewCommand } from "../declare.ts";

const requestFlags = (command: NewCommand) =>
  command
    .optionsGroup("The payment:")
    .option("--amount <decimal>", "what the customer pays")
    .option("--currency <code>", "three letters of ISO 4217")
    .option("--terminal-id <id>", "the terminal of the payment")
    .option("--customer-name <name>", "who pays")
    .option(
      "--expires <when>",
      "ISO 8601, or a duration from now (default: 7d; the service sets it for a reusable link)",
    )
    .option("--invoice-id <id>", "your order number; the base of a reusable link's payment references")
    .option("--description <text>", "what the customer pays for")
    .option("--type <type>", "transaction type: SALE, VERIFICATION or another that the service supports")
    .option("--custom-data <text>", "free-form text stored with the transaction")
    .option("--subscription", "the first payment of a subscription (amount 0, type VERIFICATION)")
    .optionsGroup("A reusable link:")
    .option("--reusable", "a link that can be paid many times (amount 0: the customer enters the amount)")
    .option("--mode <mode>", "the link's mode (default: REUSABLE_VARIABLE)")
    .option("--min-amount <decimal>", "the smallest amount that a customer may enter")
    .option("--max-amount <decimal>", "the largest amount that a customer may enter")
    .option("--reference-mode <mode>", "how the payment reference is handled (the service's default: FIXED)")
    .optionsGroup("Addresses:")
    .option("--return-url <url>", "where the customer returns after a successful payment")
    .option("--failure-return-url <url>", "where the customer returns after a failed payment")
    .option("--callback-url <url>", "receives the webhook of a successful payment")
    .option("--failure-callback-url <url>", "receives the webhook of a failed payment")
    .optionsGroup("The customer:")
    .option("--email <address>", "e-mail address")
    .option("--first-name <name>", "first name")
    .option("--last-name <name>", "last name")
    .option("--address1 <line>", "first address line")
    .option("--address2 <line>", "second address line")
    .option("--city <city>", "city")
    .option("--postcode <code>", "postcode")
    .option("--country <country>", "country")
    .optionsGroup("The request:")
    .option("--from <file>", "a JSON request as the base (- for stdin); flags override it");

export const createFlags = (command: NewCommand) =>
  requestFlags(command)
    .option("--dry-run", "print the request as JSON and send nothing")
    .option("--curl", "print the request as a curl command that reads $PAYLINK_TOKEN, and send nothing")
    .option(
      "--timeout <duration>",
      "how long to wait for the service (default: 30s), and with --wait for the payment",
    )
    .optionsGroup("The result:")
    .option("-q, --quiet", "print the URL alone")
    .option("--qr", "show a QR code of the link")
    .option("--no-qr", "show no QR code")
    .option("--open", "open the link in the browser")
    .option("--copy", "copy the link to the clipboard")
    .option(
      "--wait",
      "receive webhooks and wait for the link's payment (exit 0: approved, 9: declined or cancelled, 8: timed out)",
    )
    .option("--require-created", "with --wait, refuse signatures without a creation time")
    .option(
      "--no-require-created",
      "with --wait, accept signatures without a creation time, even if the profile requires one",
    );

export type CreateFlags = FlagsOf<typeof createFlags>;
