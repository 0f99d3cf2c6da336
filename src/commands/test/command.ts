/** `paylink test`: its flags and help. */
import { examples, type Register } from "../declare.ts";

export interface TestFlags {
  readonly forwardTo?: string;
}

export const registerTest: Register = (program, start) => {
  const command = program
    .command("test")
    .description("run a command against a sandbox and a receiver of its own, then throw both away")
    .argument("<command...>", "the command and its arguments, after --")
    .option("-f, --forward-to <target>", "pass each verified webhook on to this address")
    .action(async (words: [string, ...string[]], flags: TestFlags) => {
      const { test } = await import("./test.ts");
      await test(await start(command), words, flags);
    });
  examples(command, [
    "paylink test -- paylink create --amount 10 --currency EUR",
    "paylink test -- npm test",
    "paylink test --forward-to 3000 -- sh -c 'paylink pay $(paylink create --reusable -q) --amount 25'",
  ]);
};
