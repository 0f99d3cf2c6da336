/** Wrong command lines: every problem at once, each with its place, its reason and the bad value; and nothing is done. */
import { expect, it } from "vitest";
import { runCommand } from "../support/context.ts";

/** What is typed, and a part of what is said of each problem, in order. */
const LINES: readonly (readonly [typed: string, ...problems: string[]])[] = [
  [
    "create --dry-run --curl --wait",
    "--dry-run  cannot be used with --curl",
    "--dry-run  cannot be used with --wait",
    "--curl  cannot be used with --wait",
    "--amount  is required",
    "--currency  is required",
    "--terminal-id  is required",
    "--customer-name  is required",
  ],
  [
    "create --amount 1 --currency EUR --terminal-id 1 --customer-name Ada --callback-url x",
    "--callback-url  must be an absolute http or https URL",
  ],
  // A value that cannot be read hides no problem of others.
  [
    "create --timeout soon --currency EUR --terminal-id 1 --customer-name Ada --dry-run",
    '--timeout  (got "soon")',
    "--amount  is required",
  ],
  [
    "listen --retry never --host 0.0.0.0 --no-verify --forward-to 3000 --forward-timeout 20s",
    "--retry  must be durations",
    "--no-verify  is for loopback only",
    "--forward-timeout  must be less than 10s",
  ],
  [
    "trigger --tamper x --amount 1.50 --currency JPY",
    "--tamper  must be one of",
    "<outcome>  is required",
    "--amount  must have no decimals in JPY",
  ],
  [
    "login --base-url x --client-id a",
    "--base-url  must be",
    "--terminal-id  is required",
    "--client-secret-stdin  is required",
    "--token-url  is required",
  ],
  // What the shell leaves of an empty variable, quoted and unquoted.
  ["listen --port= -p sandbox", "--port  has an empty value"],
  ["create --profile=", "--profile  has an empty value"],
  ["test -- ", "<command...>  must begin with a program, and begins with nothing"],
  ["events list --limit= --since=", "--since  has an empty value", "--limit  has an empty value"],
  ["create --amount= --currency=", "--amount  has an empty value", "--currency  has an empty value"],
  [
    "trigger approved --to C:/msys64/hook",
    "--to  must be a URL, not a Windows path; in Git Bash, write //hook",
  ],
  ["trigger approved --to C:\\hook", "--to  must be a URL, not a Windows path"],
  ["trigger approved --to d:/hook", "--to  must be a URL, not a Windows path"],
  ["trigger approved --to ~/hook", "--to  must be a URL, not the path of a file"],
  ["trigger approved --to ./hook", "--to  must be a URL, not the path of a file"],
  ["trigger approved --to ..\\hook", "--to  must be a URL, not the path of a file"],
  ["trigger approved --to \\\\server\\hook", "--to  must be a URL, not the path of a file"],
  [
    "trigger approved --to unix:/tmp/a.sock",
    "--to  must be an http or https URL: paylink does not send to sockets",
  ],
  [
    "trigger approved --to file:///tmp/a",
    "--to  must be an http or https URL: paylink does not send to sockets",
  ],
  ["trigger approved --to mailto:me@shop.example", "--to  must be an http or https URL"],
  ["trigger approved --to ftp://shop.example/", "--to  must be a port, a path, host:port/path"],
  ["listen --forward-to C:/msys64/hook", "--forward-to  must be a URL, not a Windows path"],
  ["listen --forward-to approved=C:/msys64/hook", "--forward-to  must be a URL, not a Windows path"],
  ["listen --forward-to unix:/tmp/a.sock", "--forward-to  must be an http or https URL"],
  ["check ~/hook", "<url>  must be a URL, not the path of a file"],
  ["create --curl --open", "--curl  cannot be used with --open"],
  ["create --qr", "--qr  cannot be used with --json"],
  ["create --quiet", "--quiet  cannot be used with --json"],
  [
    "links list --status payed --since soon --until 2026 --limit 0 --timeout x",
    "--status  must be",
    "--since  ",
    "--until  ",
    "--limit  ",
    "--timeout  ",
  ],
  ["links list --since 1h --until 2h", "--until  must be later than --since"],
  ["links list --since 2999-01-01", "--since  must be in the past"],
  ["links update .. --expires soon", "<link>  ", "--expires  "],
  ["links update L1 --expires 2020-01-01", "--expires  must be in the future; links cancel ends a link"],
  ["links update L1", "--description  or --expires is required"],
  ["transaction  --timeout soon", "<uti>  ", '--timeout  (got "soon")'],
  ["transaction u-1 -q", "--quiet  cannot be used with --json"],
  [
    "pay https://pay.example/?r=1 --amount 2,50 --outcome paid",
    "<link>  is not on this machine",
    '--outcome  must be one of approved, partially-approved, declined, cancelled (got "paid")',
    '--amount  (got "2,50")',
  ],
  ["pay L1 --card insuficient-funds", "--card  did you mean insufficient-funds?"],
  ["pay L1 --card 4242-4242-4242-4242", "--card  ****-****-****-4242"],
  ["pay L1 --card amex --outcome approved", "--card  cannot be used with --outcome"],
  ["listen --no-store --db x.db --key k.pem", "--no-store  cannot be used with --db"],
  ["listen --admin 9100", "--admin  "],
  ["listen --admin localhost", "--admin  "],
  ["listen --admin http://localhost:9100", "--admin  "],
  ["listen --admin localhost:99999", "--admin  "],
  ["listen --admin=", "--admin  "],
  [
    "events list --outcome paid --since soon --until then --limit 0",
    '--outcome  must be one of approved, partially-approved, declined, cancelled, unclear (got "paid")',
    '--since  (got "soon")',
    '--until  (got "then")',
    '--limit  must be a whole number from 1 to 999999999 (got "0")',
  ],
  [
    "events list --rejected --outcome approved --reference INV",
    "--outcome  cannot be used with --rejected",
    "--reference  cannot be used with --rejected",
  ],
  ["events list --failed --rejected", "--failed  cannot be used with --rejected"],
  ["events list -q", "--quiet  cannot be used with --json"],
  ["events list --since 1h --until 2h", "--until  must be later than --since"],
  ["events list --limit 1.5 --all", '--limit  (got "1.5")', "--all  cannot be used with --limit"],
  ["events lst", "<order>  did you mean list?"],
  ["events foo", "<order>  is not a command of events; did you mean"],
  ["events accept", "<id...>  is required, or --all"],
  ["events replay", "<uti...>  is required, or --all", "--to  is required"],
  ["events replay a1 --failed --to 3000", "--failed  cannot be used with <uti...>"],
  ["events replay --all --to 3000 -q", "--quiet  cannot be used with --json"],
  [
    "events replay a1 --all --since 1h --to ftp://x",
    '--to  (got "ftp://x")',
    "--all  cannot be used with <uti...>",
    "--since  cannot be used with <uti...>",
  ],
  ["events prune --before never -y", '--before  (got "never")'],
  ["events prune --before 1d", "--yes  is required to confirm the command"],
  ["verify --db x.db --key k.pem", "--db  has no effect without --event"],
  [
    "verify x --event 1 --at yesterday --require @nothing --public-url shop --tolerance long",
    "--public-url  must be an absolute",
    "--tolerance  must be",
    "--require  is not a derived component",
    "--at  must be a date",
    "--event  cannot be used with <file>",
  ],
  ["trigger approved -q", "--quiet  cannot be used with --json"],
  [
    "trigger paid --to x:// --count x --tamper x --set a",
    "<outcome>  ",
    "--to  ",
    "--set  must be a field and its value",
    "--count  ",
    "--tamper  ",
  ],
  ["trigger approved --set cardShceme=X", "--set  did you mean cardScheme=X?"],
  ["trigger approved --set transApproved=yes", "--set  must be true or false"],
  ["trigger approved --set amountTrans=ten", "--set  must be a number"],
  ["trigger approved --tamper signatre", "--tamper  did you mean signature?"],
  ["events replay u-1 --to foo://x", "--to  or a broker: nats://host:4222/subject"],
  ["trigger approved --to https://shop.example/hook", "--to  is not on this machine; add --allow-remote"],
  [
    "trigger approved --to ftp://localhost",
    "--to  must be a port, a path, host:port/path or a whole http(s) URL",
  ],
  [
    "trigger approved --link monthly",
    '--link  must be one of one-time, reusable, subscription (got "monthly")',
  ],
  ["trigger approved --amount 1,50", "--amount  must be a plain decimal"],
  ["trigger approved --amount 1.50 --currency JPY", "--amount  must have no decimals in JPY"],
  ["trigger approved --currency EURO", "--currency  must be a three-letter currency code"],
  ["trigger approved --count 0", "--count  must be a whole number from 1"],
  ["test --forward-to ftp://x -- false", "--forward-to  "],
  [
    "sandbox --port 65536 --retry 5s,soon --deliver never --host 0.0.0.0 --clock noon --duplicate-invoices never",
    '--port  must be a whole number from 0 to 65535 (got "65536")',
    '--clock  (got "noon")',
    '--retry  (got "5s,soon")',
    '--deliver  (got "never")',
    '--duplicate-invoices  (got "never")',
    '--host  (got "0.0.0.0")',
  ],
  ["sandbox --cover @metod", "--cover  did you mean @method?"],
  ["sandbox advance soon", '<when>  "soon"'],
  [
    "login --service dna --terminal-id 1 --token-stdin --client-secret-stdin",
    "--token-stdin  cannot be used with --client-secret-stdin",
    "--client-id  is required",
    "--client-secret-stdin  is required",
  ],
  [
    "login --service dna --terminal-id 1 --token-stdin --client-id x",
    "--token-stdin  cannot be used with --client-id",
  ],
  ["status --timeout soon", '--timeout  (got "soon")'],
];

it.each(LINES)("%s", async (typed, ...problems) => {
  const { exit, stdout, stderr } = await runCommand(["--json", ...typed.split(" ")], {
    stdin: "token",
    send: () => Promise.reject(new Error("nothing should have been sent")),
  });
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
  const expected = problems.map((problem) => {
    const [at, message = ""] = problem.split("  ");
    return { at, message: expect.stringContaining(message) as unknown };
  });
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: "usage", details: { problems: expected } } });
});

// The word is not there at all: the next one is a flag, which may be a global one.
it.each([
  ["listen --port -p sandbox", "--port"],
  ["listen --path -p sandbox", "--path"],
  ["listen --forward-to --port 4444", "--forward-to"],
  ["events list --since --no-color", "--since"],
  ["events list --since", "--since"],
  ["events list --since --limit 5", "--since"],
  ["create --amount -p", "--profile"],
])("%s: the flag that lacks its value is named", async (typed, name) => {
  const { exit, stdout, stderr } = await runCommand(typed.split(" "));
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
  expect(stderr).toMatch(new RegExp(`^✗ ${name} needs a value: ${name} `));
});
