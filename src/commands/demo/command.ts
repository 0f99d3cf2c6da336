/** `paylink demo`: what runs it is loaded when it runs. */
import { command } from "../command.ts";

export const demo = command({
  summary: "create, pay, receive and verify in a few seconds, without an account",
  examples: ["paylink demo", "paylink demo --json"],
  run: async (context) => (await import("./demo.ts")).demo(context),
});
