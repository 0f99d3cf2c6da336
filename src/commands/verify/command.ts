/** `paylink verify`: its argument and help, and what runs it. */
import { examples, type Declare } from "../declare.ts";
import { verifyFlags } from "./flags.ts";

export const declareVerify: Declare = (command, execute) => {
  verifyFlags(command)
    .argument("[file]", "a raw HTTP/1.1 request, JSON, or a line of listen --json; - or nothing for stdin")
    .action((file, flags) =>
      execute(command, async (context) => {
        const { verifyOptions } = await import("./options.ts");
        const { verify } = await import("./verify-capture.ts");
        return verify(context, verifyOptions(file, flags, await context.settings(), context.now()));
      }),
    );
  examples(command, [
    "paylink trigger approved --dry-run | paylink verify",
    "paylink verify --event $(paylink events list --limit 1 --quiet)",
    "paylink trigger approved --dry-run > webhook.http && paylink verify webhook.http --at 30s",
    "paylink trigger approved --to http://localhost:3000/ --dry-run | paylink verify --public-url http://localhost:3000/",
  ]);
};
