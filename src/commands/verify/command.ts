/** `paylink verify`: its help, the rules between its flags, and what runs it. */
import { argument, command, excludes, needs, text } from "../command.ts";
import { verifyFlags } from "./flags.ts";

export const verify = command({
  examples: [
    "paylink trigger approved --dry-run | paylink verify",
    "paylink verify --event $(paylink events list --limit 1 --quiet)",
    "paylink trigger approved --dry-run > webhook.http && paylink verify webhook.http --at 30s",
    "paylink trigger approved --to http://localhost:3000/ --dry-run | paylink verify --public-url http://localhost:3000/",
  ],
  arguments: {
    file: argument(
      "[file]",
      "a raw HTTP/1.1 request, the output of curl -v, or a line of listen --json; - or nothing for stdin",
      text,
      { example: "webhook.http" },
    ),
  },
  flags: verifyFlags,
  rules: [excludes(["event"], ["file"]), needs(["db"], ["event"])],
  consequence: "Nothing was verified.",
  run: async (context, { file, ...flags }) => (await import("./verify.ts")).verify(context, file, flags),
});
