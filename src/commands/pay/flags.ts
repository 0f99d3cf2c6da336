/** The flags of `paylink pay`. */
import { oneOf, type FlagsOf, type NewCommand } from "../declare.ts";

export const OUTCOMES = ["approved", "declined", "cancelled"] as const;

export const payFlags = (command: NewCommand) =>
  command
    .addOption(oneOf("--outcome <outcome>", "the result of the payment", OUTCOMES).default("approved"))
    .option("--amount <decimal>", "the amount that the customer enters, if the link leaves it open")
    .option("--reference <text>", "the reference that the customer enters, if the link allows it")
    .option("-q, --quiet", "print only the transaction's uti");

export type PayFlags = FlagsOf<typeof payFlags>;
