/** Turns the flags of `pay` into the link and what the customer enters. */
import { parseAmount } from "../../domain/money.ts";
import { accepted, type Parsed, refused } from "../../domain/parse-result.ts";
import { isLoopback, parseWebAddress } from "../../domain/addresses.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseChoice } from "../flag-values.ts";
import { OUTCOMES, type PayFlags } from "./flags.ts";

export interface PayOptions {
  /** A whole URL, or an id of the sandbox in force. */
  readonly link: URL | string;
  readonly outcome: string;
  readonly amount: string | undefined;
  readonly reference: string | undefined;
  readonly quiet: boolean;
}

/** Throws one `usage` error with every problem. */
export function payOptions(text: string, flags: PayFlags): PayOptions {
  const reader = createFlagReader();
  const link = reader.read("<link>", text, parseLink);
  const outcome = reader.read("--outcome", flags.outcome, parseChoice(OUTCOMES));
  const amount = reader.read("--amount", flags.amount, parseAmount);
  reader.finish("Nothing was paid.");
  return {
    link: link.value,
    outcome: outcome.value,
    amount: amount.value?.toString(),
    reference: flags.reference,
    quiet: flags.quiet ?? false,
  };
}

/** Accepts only links on this machine, so that no real money is paid. */
function parseLink(text: string): Parsed<URL | string> {
  const url = parseWebAddress(text);
  if (url === undefined) return text.trim() === "" ? refused("must not be empty") : accepted(text);
  return isLoopback(url.hostname)
    ? accepted(url)
    : refused("is not on this machine, and only links of the sandbox can be paid from here");
}
