/** `paylink test`: its arguments, flags and help, and what runs it. */
import { argument, command, toggle, verbatim } from "../command.ts";
import { checkTargets, failFlag, targetsFlag } from "../shared-flags.ts";

export default command({
  examples: [
    "paylink test -- paylink create --amount 10 --currency EUR",
    "paylink test -- npm test",
    "paylink test --reconcile -- sh -c 'paylink pay $(paylink create --amount 10 --currency EUR -q)'",
    "paylink test --fail create=429:1 -- paylink create --amount 10 --currency EUR",
    "paylink test --forward-to 3000 -- sh -c 'paylink pay $(paylink create --reusable -q) --amount 25'",
  ],
  arguments: {
    words: argument("<command...>", "the command and its arguments, after --", verbatim, {
      example: "-- paylink create --amount 10 --currency EUR",
      mayBeEmpty: true,
    }),
  },
  flags: {
    forwardTo: targetsFlag("-f, --forward-to <target>"),
    fail: failFlag,
    reconcile: toggle(
      "--reconcile",
      "fail (exit 10) if your application did not accept the webhook of an approved payment; without a target, if the webhook did not arrive",
    ),
  },
  consequence: "Nothing was run.",
  check: ({ ifRead }, usage) => {
    ifRead(["forwardTo"], ({ forwardTo }) => checkTargets("--forward-to", forwardTo, usage));
    ifRead(["words"], ({ words: [program = ""] }) => {
      if (program.trim() === "")
        usage.problems.push({
          at: "<command...>",
          message: "must begin with a program, and begins with nothing",
        });
    });
  },
  run: async (context, { words, ...options }) => (await import("./test.ts")).test(context, words, options),
});
