/** The argument and the flags of `paylink check`. */
import { LISTENER_URL } from "../../domain/addresses.ts";
import { argument, flag, group, text, toggle, type ValuesOf } from "../command.ts";
import { parseCover, parseTarget } from "../flag-values.ts";
import { signingKeyFlag, timeoutFlag } from "../shared-flags.ts";

export const checkArguments = {
  url: argument(
    "<url>",
    "the webhook endpoint: 3000, 3000/hook, localhost:3000/hook, /hook or a URL",
    parseTarget,
    { example: LISTENER_URL },
  ),
};

export const checkFlags = {
  ...group("Webhooks:", {
    signWith: signingKeyFlag,
    cover: flag(
      "--cover <components>",
      "sign exactly these components, and require the endpoint to accept that",
      parseCover,
      { example: '"@method @target-uri content-digest"' },
    ),
    allowRemote: toggle("--allow-remote", "check an endpoint on another machine"),
    timeout: timeoutFlag("10s for each webhook", "Not every case was tried."),
  }),
  ...group("Report:", {
    junit: flag("--junit <file>", "write JUnit XML to a file", text, { example: "webhooks.xml" }),
  }),
};

export type CheckOptions = ValuesOf<typeof checkArguments> & ValuesOf<typeof checkFlags>;
