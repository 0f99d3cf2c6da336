/** The text of `paylink help ci`: how to test payments in continuous integration. */
import type { Section } from "./sections.ts";

export const CI: Readonly<Record<string, Section>> = {
  test: {
    title: "Around your own tests",
    text: `\
paylink test --forward-to 3000/webhooks -- npm test

Your tests run with a sandbox and a receiver of their own, on free ports, which are
deleted afterwards. Both are found through the environment: PAYLINK_BASE_URL,
PAYLINK_TOKEN, PAYLINK_TERMINAL_ID, PAYLINK_WEBHOOK_KEY and PAYLINK_CALLBACK_URL.
paylink create and paylink pay need no further flags there. Each verified webhook is
forwarded to your application. The exit code is that of your command.`,
  },
  github: {
    title: "GitHub Actions",
    text: `\
      - uses: actions/setup-node@v5
        with: { node-version: 24 }
      - run: npm ci
      - run: npm install --global paylink
      - run: paylink test --forward-to 3000/webhooks -- npm test

The repository has an action, .github/actions/paylink, for the last two steps: its
input "run" is the command, and "forward-to" the address of your application.`,
  },
  check: {
    title: "Reports on your endpoint",
    text: `\
paylink check http://127.0.0.1:3000/webhooks --junit webhooks.xml

It posts webhooks that your endpoint must accept and others that it must refuse.
--junit writes JUnit XML for the reports of your CI, --tap prints TAP, and --json
prints JSON. The exit code is 7 if the endpoint fails.`,
  },
  script: {
    title: "A script that starts every part itself",
    text: `\
set -eu
export PAYLINK_HOME=$(mktemp -d) # settings and data of this run alone
callback=http://127.0.0.1:4000/

paylink sandbox --port 4010 --json > sandbox.jsonl &
sandbox=$!
until grep -q '"ready"' sandbox.jsonl; do sleep 0.1; done

paylink listen --port 4000 --expect approved:2 --expect declined:1 --timeout 30s --json > events.jsonl &
listener=$!
until grep -q '"ready"' events.jsonl; do sleep 0.1; done

for outcome in approved approved declined; do
  link=$(paylink create --amount 10 --currency EUR \\
    --callback-url $callback --failure-callback-url $callback --quiet)
  paylink pay "$link" --outcome $outcome
done

wait $listener # 0: all arrived and verified; 7: one did not verify; 8: timed out
kill $sandbox`,
  },
  codes: {
    title: "Exit codes, prompts and time",
    text: `\
paylink create --wait --timeout 60s ends with the outcome of its own payment: 0 if it
was approved, 9 if it was declined or cancelled, 8 if it timed out. paylink help
errors lists every exit code. With --json a failure is one JSON document on stderr,
whose error.code is more specific than the exit code.

There are no prompts in CI. To test expiries and retries without waiting, stop the clock
with paylink sandbox --clock 2026-01-31T12:00:00Z, and move it with
paylink sandbox advance 2h.`,
  },
};
