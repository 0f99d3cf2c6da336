/** `paylink links`: its subcommands with their flags, their help, and what runs them. */
import { parseWebAddress } from "../../values/addresses.ts";
import { accepted, nearest, parseChoice, refused, type Parsed } from "../../values/parse-result.ts";
import { LINK_STATUSES, type LinkStatus } from "../../domain/payment-link-reply.ts";
import { parseExpiry } from "../../values/time.ts";
import { argument, command, excludes, flag, lines, text, type Parser } from "../command.ts";
import { parseEnd, parseLimit, parsePast } from "../flag-values.ts";
import {
  checkConfirmable,
  csvFlag,
  eventStoreFlag,
  quietFlag,
  timeoutFlag,
  terminalFlag,
} from "../shared-flags.ts";

/** `afterwards` is known when the time of a run has passed. */
const linkFlags = (afterwards: string) => ({
  timeout: timeoutFlag("30s for each request", afterwards),
  quiet: quietFlag("the URL of each link"),
});

const EXAMPLE = "$(paylink links list --status active --limit 1 --quiet)";
const link = argument("<link>", "the link's id or URL", parseLinkId, { example: EXAMPLE });

const parseExpires: Parser<Date> = (typed, { now }) => {
  const expiry = parseExpiry(typed, now());
  return expiry.ok && expiry.value <= now()
    ? refused("must be in the future; links cancel ends a link")
    : expiry;
};

function parseStatuses(typed: string): Parsed<readonly LinkStatus[]> {
  const found: LinkStatus[] = [];
  for (const word of typed.split(",")) {
    const status = parseChoice(LINK_STATUSES, word.trim().toLowerCase());
    // The words are short, so that a near one may differ in half of its letters.
    if (!status.ok) return { ...status, instead: nearest(word, LINK_STATUSES, isTwoEdits), part: word };
    if (!found.includes(status.value)) found.push(status.value);
  }
  return accepted(found);
}

const isTwoEdits = (edits: number): boolean => edits <= 2;

export const linkListFlags = {
  status: flag(
    "--status <status>",
    `only links with these statuses, separated by commas: ${LINK_STATUSES.join(", ")}`,
    parseStatuses,
    {
      example: "paid,expired",
    },
  ),
  invoiceId: flag("--invoice-id <id>", "only links with this order number", text, { example: "INV-1" }),
  since: flag(
    "--since <when>",
    "created at or after this time: a date, ISO 8601, or a time ago (2h, 30d) (default: 7d)",
    parsePast,
    { example: "30d" },
  ),
  until: flag("--until <when>", "created before this time, or by the end of this day", parseEnd, {
    example: "1d",
  }),
  limit: flag("--limit <count>", "at most this many, the newest ones", parseLimit, { example: "5" }),
  terminalId: terminalFlag,
  csv: csvFlag,
  ...linkFlags("Not every link was listed."),
};

export const updateFlags = {
  description: flag("--description <text>", "what the customer reads about the payment", lines, {
    example: "'Order 1042'",
  }),
  expires: flag(
    "--expires <when>",
    "when it expires: a date (the end of that day), ISO 8601, or a time from now (36h, 7d)",
    parseExpires,
    { example: "14d" },
  ),
  ...linkFlags("The link was not changed."),
};

export const showFlags = { ...linkFlags("Not everything was read."), db: eventStoreFlag };

export default command({
  examples: ["paylink links", "paylink links list --status active --since 30d"],
  commands: {
    list: command({
      summary: "list the links of the last 7 days, newest first",
      examples: [
        "paylink links list --status active,viewed --since 30d",
        "paylink links list --invoice-id INV-1",
        "paylink links list --limit 5 --quiet",
      ],
      isDefault: true,
      flags: linkListFlags,
      rules: [excludes(["csv"], ["quiet"])],
      consequence: "Nothing was listed.",
      check: async (read, usage, context) => (await import("./links.ts")).checkListed(read, usage, context),
      run: async (context, values) => (await import("./links.ts")).listLinks(context, values),
    }),
    show: command({
      summary: "show one link: every field and date, and how its order stands",
      examples: [
        "paylink links show $(paylink links list --limit 1 --quiet)",
        "paylink links show $(paylink links list --limit 1 --quiet) --json",
      ],
      arguments: { link },
      flags: showFlags,
      rules: [excludes(["db"], ["quiet"])],
      consequence: "Nothing was read.",
      run: async (context, values) => (await import("./links.ts")).showLink(context, values),
    }),
    update: command({
      summary: "change the description or the expiry of a link that is active or viewed",
      examples: [
        `paylink links update ${EXAMPLE} --expires 14d`,
        `paylink links update ${EXAMPLE} --description 'Order 1042'`,
      ],
      arguments: { link },
      flags: updateFlags,
      consequence: "Nothing was changed.",
      check: ({ ifRead }, { problems }) => {
        ifRead(["description", "expires"], ({ description, expires }) => {
          if (description === undefined && expires === undefined)
            problems.push({
              at: "--description",
              message: "or --expires is required: nothing else of a link can be changed",
            });
        });
      },
      run: async (context, values) => (await import("./links.ts")).updateLink(context, values),
    }),
    cancel: command({
      summary: "cancel links, so that nobody can pay them any more",
      examples: [`paylink links cancel ${EXAMPLE} --yes`, `paylink links cancel ${EXAMPLE} --yes --json`],
      arguments: { links: argument("<link...>", "ids or URLs of links", parseLinkId, { example: EXAMPLE }) },
      flags: linkFlags("Not every link was cancelled."),
      consequence: "Nothing was cancelled.",
      check: checkConfirmable,
      run: async (context, values) => (await import("./links.ts")).cancelLinks(context, values),
    }),
  },
});

/** The id itself, or the parameter `r` of the link's URL. A service may have any ids: they are escaped in its addresses. */
function parseLinkId(typed: string): Parsed<string> {
  const text = typed.trim();
  const url = parseWebAddress(text);
  const id = url === undefined ? text : (url.searchParams.get("r") ?? "");
  if (id === "" && url !== undefined)
    return refused("must be the URL of a link, which has the link's id as parameter r");
  if (id === "" || /[?&]r=/.test(id)) return refused("must be the id of a link, or its URL with https://");
  if (/\p{Cc}/u.test(id)) return refused("must be the id or the URL of a link, without a control character");
  return /(?:^|\/)\.+(?:\/|$)/.test(id)
    ? refused("must be the id or the URL of a link: a part of dots alone is another address at the service")
    : accepted(id);
}
