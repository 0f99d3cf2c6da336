/** `paylink test`: its arguments, flag and help, and what runs it. */
import { examples, type Declare } from "../declare.ts";

export const declareTest: Declare = (command, execute) => {
  command
    .argument("<command...>", "the command and its arguments, after --")
    .option("-f, --forward-to <target>", "forward each verified webhook to this address")
    .action((words, flags) =>
      execute(command, async (context) => {
        const { test, testOptions } = await import("./test.ts");
        return test(context, testOptions(words, flags));
      }),
    );
  examples(command, [
    "paylink test -- paylink create --amount 10 --currency EUR",
    "paylink test -- npm test",
    "paylink test --forward-to 3000 -- sh -c 'paylink pay $(paylink create --reusable -q) --amount 25'",
  ]);
};
