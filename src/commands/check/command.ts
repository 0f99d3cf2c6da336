/** `paylink check`: its flags and help. */
import { LISTENER_URL } from "../../domain/local-addresses.ts";
import { examples, type Register } from "../declare.ts";

export interface CheckFlags {
  readonly key?: string;
  readonly tap?: boolean;
  readonly junit?: string;
  readonly allowRemote?: boolean;
}

export const registerCheck: Register = (program, start) => {
  const command = program
    .command("check")
    .argument("<url>", "the webhook endpoint")
    .description("hold your own webhook endpoint to the specification: what it must take, and what refuse")
    .optionsGroup("What is sent:")
    .option("--key <private key>", "the file of the key to sign with (default: the sandbox's)")
    .option("--allow-remote", "check an endpoint on another machine")
    .optionsGroup("The report:")
    .option("--tap", "as TAP on stdout")
    .option("--junit <file>", "as JUnit XML, in a file")
    .action(async (url: string, flags: CheckFlags) => {
      const { check } = await import("./check.ts");
      await check(await start(command), url, flags);
    });
  examples(command, [`paylink check ${LISTENER_URL}`, `paylink check ${LISTENER_URL} --junit webhooks.xml`]);
};
