/** The flags of `paylink sandbox`. */
import { SANDBOX_PORT } from "../../domain/known-services.ts";
import { accepted, refused, type Parsed } from "../../values/parse-result.ts";
import { parseWhen } from "../../values/time.ts";
import { flag, group, oneOf, repeatable, text, toggle } from "../command.ts";
import { failFlag, plainHostFlag } from "../shared-flags.ts";
import { parseBoundHost, parseCover, parseDelays, parsePort } from "../flag-values.ts";

export const sandboxFlags = {
  ...group("Address:", {
    port: flag("--port <number>", "the port to serve on; 0 picks a free one", parsePort, {
      default: String(SANDBOX_PORT),
    }),
    host: flag("--host <address>", "the address to bind", parseBoundHost, { default: "127.0.0.1" }),
    allowRemote: toggle("--allow-remote", "serve other machines, and post webhooks to them"),
    allowHost: repeatable(
      "--allow-host <name>",
      "serve and post to this host name, for containers; repeatable",
      parseHost,
      { example: "shop" },
    ),
    plainHost: plainHostFlag,
    insecure: toggle("--insecure", "accept self-signed certificates on this machine and on allowed hosts"),
  }),
  ...group("Storage:", {
    db: flag(
      "--db <file>",
      "where links, payments and deliveries are kept (default: in paylink's data folder)",
      text,
      { example: "sandbox.db" },
    ),
    reset: toggle("--reset", "delete what was kept, and start empty"),
  }),
  ...group("Webhook signatures:", {
    cover: flag(
      "--cover <components>",
      "the header fields and derived components to sign (default: content-digest content-length content-type)",
      parseCover,
      { example: '"content-digest @method"' },
    ),
    created: toggle("--no-created", "leave created out of the signatures"),
  }),
  ...group("Testing:", {
    clock: flag(
      "--clock <time>",
      "stop the clock at this time; `sandbox advance` moves it",
      (typed, { now }) => parseWhen(typed, now()),
      { example: "2026-01-31T12:00:00Z" },
    ),
    retry: flag(
      "--retry <schedule>",
      "waits between attempts, or none (default: 5s,30s,2m,10m,1h)",
      parseDelays,
      { example: "1s,1s" },
    ),
    deliver: flag(
      "--deliver <fault>",
      "how deliveries fail",
      oneOf(["duplicate", "late", "out-of-order", "drop-first", "same-signature"]),
    ),
    fail: failFlag,
    duplicateInvoices: flag(
      "--duplicate-invoices <rule>",
      "refuse or accept a link with the invoiceId of a paid order",
      oneOf(["refuse", "accept"]),
      { default: "refuse" },
    ),
    tokenAuth: flag(
      "--token-auth <method>",
      "how clients send their credentials: post, as form fields; or basic, with HTTP Basic too",
      oneOf(["post", "basic"]),
      { default: "post" },
    ),
  }),
};

function parseHost(text: string): Parsed<string> {
  const isName = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])$/i.test(text) && URL.canParse(`http://${text}`);
  return isName
    ? accepted(new URL(`http://${text}`).hostname)
    : refused("must be a host name or an address without scheme and port, such as shop");
}
