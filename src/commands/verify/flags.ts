/** The flags of `paylink verify`. */
import { collect, type FlagsOf, type NewCommand } from "../declare.ts";

export const verifyFlags = (command: NewCommand) =>
  command
    .optionsGroup("Webhook:")
    .option("--event <uti>", "an event that listen stored, by its uti or the start of one")
    .option(
      "--db <file or URL>",
      "where events are kept: a file or postgres://… (default: in paylink's data folder)",
    )
    .optionsGroup("Verification:")
    .option(
      "--key <file or URL>",
      "the service's public key: PEM, certificate, JWK or JWKS; repeatable",
      collect,
    )
    .option("--public-url <url>", "the address that the service posted to")
    .option("--tolerance <duration>", "how old a signature may be (default: 5m)")
    .option("--require <component>", "a component that the signature must cover; repeatable", collect)
    .option("--require-created", "refuse signatures without a creation time")
    .option(
      "--no-require-created",
      "accept signatures without a creation time, even if the profile requires one",
    )
    .option("--at <time>", "the time to verify at: ISO 8601 or Unix seconds (default: now)");

export type VerifyFlags = FlagsOf<typeof verifyFlags>;
