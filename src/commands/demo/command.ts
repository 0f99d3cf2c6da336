/** `paylink demo`: its help, and what runs it. */
import { examples, type Register } from "../declare.ts";

export const registerDemo: Register = (program, execute) => {
  const command = program
    .command("demo")
    .description("show the whole loop in a few seconds: create, pay, receive, verify, refuse a forgery")
    .action(() =>
      execute(command, async (context) => {
        const { demo } = await import("./demo.ts");
        return demo(context);
      }),
    );
  examples(command, ["paylink demo", "paylink demo --json"]);
};
