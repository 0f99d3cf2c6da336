/** `paylink demo`: its help, and what runs it. */
import { examples, type Declare } from "../declare.ts";

export const declareDemo: Declare = (command, execute) => {
  command.action(() =>
    execute(command, async (context) => {
      const { demo } = await import("./demo.ts");
      return demo(context);
    }),
  );
  examples(command, ["paylink demo", "paylink demo --json"]);
};
