/** `paylink verify`: its help, the rules between its flags, and what runs it. */
import type { Context } from "../../context.ts";
import { parseUrl } from "../../values/addresses.ts";
import { accepted, refused, type Parsed } from "../../values/parse-result.ts";
import { parseWhen } from "../../values/time.ts";
import { flag, group, repeatable, text, argument, command, excludes, needs } from "../command.ts";
import { parsePath } from "../flag-values.ts";
import { eventStoreFlag, policyFlags, serviceKeyFlag } from "../shared-flags.ts";

export const verifyFlags = {
  ...group("Webhook:", {
    event: flag(
      "--event <uti>",
      "a webhook that listen stored, by its uti or id, or the start of one",
      text,
      {
        example: "$(paylink events list --limit 1 --quiet)",
      },
    ),
    db: eventStoreFlag,
  }),
  ...group("Verification:", {
    key: serviceKeyFlag,
    publicUrl: flag("--public-url <url>", "the address that the service posted to", parseUrl, {
      example: "https://shop.example/hook",
    }),
    path: repeatable(
      "--path <path>",
      "the path that a proxy maps the path of --public-url to; repeatable",
      parsePath,
      {
        example: "/webhooks",
      },
    ),
    ...policyFlags,
    at: flag(
      "--at <time>",
      "the time to verify at: ISO 8601, Unix seconds, or a time ago (default: now, or when listen received it)",
      parseAt,
      {
        example: "30s",
      },
    ),
  }),
};

/** In seconds this would be the year 5138. */
const LEAST_MILLISECONDS = 100_000_000_000;

/** Unix seconds, ISO 8601, or a duration back from now. */
function parseAt(typed: string, { now }: Context): Parsed<Date> {
  if (!/^\d+$/.test(typed.trim())) return parseWhen(typed, now(), -1);
  const seconds = Number(typed);
  return seconds < LEAST_MILLISECONDS
    ? accepted(new Date(seconds * 1000))
    : refused("must be in seconds, and this looks like milliseconds");
}

export default command({
  examples: [
    "paylink trigger approved --dry-run | paylink verify",
    "paylink verify --event $(paylink events list --limit 1 --quiet)",
    "paylink trigger approved --dry-run > webhook.http && paylink verify webhook.http --at 30s",
    "paylink trigger approved --to http://localhost:3000/ --dry-run | paylink verify --public-url http://localhost:3000/",
  ],
  arguments: {
    file: argument(
      "[file]",
      "a raw HTTP/1.1 request, the output of curl -v, a line of listen --json, an event of API Gateway or a load balancer, or JSON with method, url, headers and body; - or nothing for stdin",
      text,
      { example: "webhook.http" },
    ),
  },
  flags: verifyFlags,
  rules: [excludes(["event"], ["file"]), needs(["db"], ["event"])],
  consequence: "Nothing was verified.",
  run: async (context, { file, ...flags }) =>
    (await import("./verify.ts")).verifyCapture(context, file, flags),
});
