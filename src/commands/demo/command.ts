/** `paylink demo`: its help. */
import { examples, type Register } from "../declare.ts";

export const registerDemo: Register = (program, start) => {
  const command = program
    .command("demo")
    .description("show the whole loop in a few seconds: create, pay, receive, verify, refuse a forgery")
    .action(async () => {
      const { demo } = await import("./demo.ts");
      await demo(await start(command));
    });
  examples(command, ["paylink demo", "paylink demo --json"]);
};
