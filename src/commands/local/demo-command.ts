/** `paylink demo`: its help, and what runs it. */
import { command } from "../command.ts";

export default command({
  examples: ["paylink demo", "paylink demo --json"],
  run: async (context) => (await import("./demo.ts")).demo(context),
});
