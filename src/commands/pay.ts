/** `paylink pay`: posts what the form of the checkout page would post, and shows the transaction. */
import type { Context } from "../context.ts";
import { accepted, nearest, refused, type Parsed } from "../values/parse-result.ts";
import { SAMPLE_OUTCOMES } from "../domain/outcome.ts";
import { isLoopback, parseWebAddress } from "../values/addresses.ts";
import { safeText } from "../render/safe-text.ts";
import { TEST_CARDS, testCard, type TestCard } from "../sender/test-cards.ts";
import { argument, command, excludes, flag, oneOf, text, type Parser } from "./command.ts";
import { quietFlag, timeoutFlag } from "./shared-flags.ts";

const CARD_NAMES = TEST_CARDS.map(({ name }) => name);

/** By its name or its number. */
const parseCard: Parser<TestCard> = Object.assign(
  (typed: string): Parsed<TestCard> => {
    const card = testCard(typed);
    return card === undefined
      ? refused(`must be a test card of the sandbox: ${CARD_NAMES.join(", ")}`, nearest(typed, CARD_NAMES))
      : accepted(card);
  },
  { choices: CARD_NAMES },
);

const CARDS = TEST_CARDS.map(
  ({ name, responseCode, label }) => `  ${name.padEnd(20)}${responseCode}  ${label}`,
);

const NEWEST_LINK = "$(paylink links list --status active --limit 1 --quiet)";

export default command({
  examples: [
    `paylink pay ${NEWEST_LINK}`,
    `paylink pay ${NEWEST_LINK} --outcome declined`,
    `paylink pay ${NEWEST_LINK} --card insufficient-funds`,
  ],
  notes: `Test cards of the sandbox, with the response code of the record:\n${CARDS.join("\n")}`,
  arguments: {
    link: argument("<link>", "the link's URL or id", parseLink, {
      example: NEWEST_LINK,
    }),
  },
  flags: {
    outcome: flag("--outcome <outcome>", "the result of the payment", oneOf(SAMPLE_OUTCOMES), {
      default: "approved",
    }),
    card: flag("--card <card>", "the test card to pay with, by its name or number", parseCard),
    amount: flag(
      "--amount <decimal>",
      "the amount that the customer enters, if the link leaves it open",
      async (typed) => (await import("../domain/money.ts")).parseAmount(typed),
      { example: "25" },
    ),
    reference: flag(
      "--reference <text>",
      "the reference that the customer enters, if the link allows it",
      text,
    ),
    timeout: timeoutFlag("30s", "The link may be paid."),
    quiet: quietFlag("the transaction's uti"),
  },
  rules: [excludes(["card"], ["outcome"], "follows from the card")],
  consequence: "Nothing was paid.",
  run: async (context, { link, outcome, card, amount, reference, quiet }) => {
    const [
      { payAtCheckout },
      { textOf, violationsOf },
      { renderCompactRecord },
      { recordLine },
      { responseText },
    ] = await Promise.all([
      import("../service/sandbox.ts"),
      import("../domain/transaction.ts"),
      import("../render/transaction-record.ts"),
      import("../events/event-json.ts"),
      import("../domain/response-codes.ts"),
    ]);
    const { out, send } = context;
    const url = typeof link === "string" ? await checkoutOfLink(context, link) : link;
    const record = await payAtCheckout(send, url, {
      ...(card === undefined ? { outcome } : { card: card.name }),
      ...(amount === undefined ? {} : { amount: amount.toString() }),
      ...(reference === undefined ? {} : { reference }),
    });
    out.result(
      () => recordLine({ record, violations: violationsOf(record) }),
      () => (quiet ? safeText(textOf(record, "uti") ?? "") : renderCompactRecord(record, out.paint)),
    );
    const code = textOf(record, "responseCode") ?? "00";
    if (!quiet && code !== "00") out.note(safeText(`Response code ${responseText(code)}.`));
    return 0;
  },
});

/** Accepts only links on this machine, so that no real money is paid. */
function parseLink(typed: string): Parsed<URL | string> {
  const url = parseWebAddress(typed);
  if (url === undefined) return typed.trim() === "" ? refused("must not be empty") : accepted(typed);
  return isLoopback(url.hostname)
    ? accepted(url)
    : refused("is not on this machine: paylink pays only links of the sandbox");
}

async function checkoutOfLink(context: Context, id: string): Promise<URL> {
  const { findSandbox } = await import("../service/sandbox.ts");
  const { baseUrl } = await findSandbox(context);
  const url = new URL("/pay", baseUrl);
  url.searchParams.set("r", id);
  return url;
}
