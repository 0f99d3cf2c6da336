/** The flags of `paylink sandbox`. */
import { SANDBOX_PORT } from "../../domain/addresses.ts";
import { collect, type FlagsOf, type NewCommand, oneOf } from "../declare.ts";

export const sandboxFlags = (command: NewCommand) =>
  command
    .optionsGroup("Address:")
    .option("--port <number>", "the port to serve on; 0 picks a free one", String(SANDBOX_PORT))
    .option("--host <address>", "the address to bind", "127.0.0.1")
    .option("--allow-remote", "serve other machines, and post webhooks to them")
    .option("--allow-host <name>", "serve and post to this host name, for containers; repeatable", collect)
    .option("--insecure", "accept self-signed certificates on this machine and on allowed hosts")
    .optionsGroup("Merchant:")
    .option("--merchant-name <name>", "the merchant's name on pages and in records")
    .optionsGroup("Storage:")
    .option(
      "--db <file>",
      "where links, payments and deliveries are kept (default: in paylink's data folder)",
    )
    .option("--reset", "delete what was kept, and start empty")
    .optionsGroup("Webhook signatures:")
    .option("--cover <components>", "what to sign (default: content-digest content-length content-type)")
    .option("--no-created", "leave created out of the signatures")
    .optionsGroup("Testing:")
    .option("--seed <number>", "generate the same ids and suffixes every time, for snapshots")
    .option("--clock <time>", "stop the clock at this time; `sandbox advance` moves it")
    .option("--retry <schedule>", "waits between attempts, or none (default: 5s,30s,2m,10m,1h)")
    .addOption(
      oneOf("--deliver <fault>", "how deliveries fail", ["duplicate", "late", "out-of-order", "drop-first"]),
    )
    .addOption(
      oneOf("--duplicate-invoices <rule>", "accept or refuse a second link with the same invoiceId", [
        "accept",
        "refuse",
      ]).default("accept"),
    );

export type SandboxFlags = FlagsOf<typeof sandboxFlags>;
