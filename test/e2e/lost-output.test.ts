/** What the service answered is shown although stdout cannot be written: it has no reader, or the disk is full. */
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CREATE } from "../support/account.ts";
import { temporaryHome } from "../support/home.ts";
import { ANSWER } from "../support/link-request.ts";
import { runPaylink } from "../support/paylink.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const URL_OF_ANSWER = "https://pay.example/checkout?r=L1";
const CALLBACK = ["--callback-url", "https://shop.example/webhooks"];
const FULL = [...CREATE, ...CALLBACK, "--terminal-id", "1234567890", "--expires", "2099-01-31T12:00:00Z"];

/** A shell that runs the program with its stdout redirected, and ends with the program's exit code. */
const FULL_DISK = ["sh", "-c", 'exec "$@" > /dev/full', "sh"];
const NO_READER = ["bash", "-c", 'set -o pipefail; { sleep 0.2; "$@"; } | true', "bash"];
const ALMOST_FULL = [
  "sh",
  "-c",
  'cd "$PAYLINK_HOME" && dd if=/dev/zero of=out bs=508 count=1 2>/dev/null && ulimit -f 1 && exec "$@" >> out',
  "sh",
];

async function create(through: readonly string[], ...flags: string[]) {
  const { url } = await rawServer(reply(200, ANSWER));
  const env = { PAYLINK_BASE_URL: url, PAYLINK_TOKEN: "token-1" };
  return runPaylink([...FULL, ...flags], { home: temporaryHome(), env, through });
}

describe.runIf(existsSync("/dev/full"))("create without a stdout", () => {
  it.each([
    ["the disk is full", FULL_DISK],
    ["the reader has gone", NO_READER],
    ["the disk has room for a part of the URL", ALMOST_FULL],
  ])("shows the link on stderr and exits 1 if %s", async (_, through) => {
    const { code, stderr } = await create(through, "-q");
    expect(stderr).toMatch(
      new RegExp(`^${URL_OF_ANSWER.replace("?", "\\?")}\n✗ stdout could not be written`),
    );
    expect(stderr).not.toContain("report");
    expect(code).toBe(1);
  });

  it.each([
    ["the disk is full", FULL_DISK],
    ["the reader has gone", NO_READER],
  ])("puts the answer into the error document if %s", async (_, through) => {
    const { code, stderr } = await create(through, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "output_unwritable" }, output: ANSWER });
  });
});

describe.runIf(existsSync("/dev/full"))("help without a stdout", () => {
  it.each([["--help"], ["--version"], ["version"], ["help"], ["links --help"]])(
    "fails and says why: %s",
    async (args) => {
      const home = temporaryHome();
      const { code, stderr } = await runPaylink(args.split(" "), { home, through: FULL_DISK });
      expect(code).toBe(1);
      expect(stderr).toContain("✗ stdout could not be written (the disk is full)");
      expect(stderr).not.toContain("    at ");
    },
  );

  it("fails in JSON with --json", async () => {
    const options = { home: temporaryHome(), through: FULL_DISK };
    const { code, stderr } = await runPaylink(["create", "--help", "--json"], options);
    expect([code, JSON.parse(stderr)]).toMatchObject([1, { error: { code: "output_unwritable" } }]);
  });

  it("prints the version without a word if the reader has gone", async () => {
    expect(await runPaylink(["--version"], { home: temporaryHome(), through: NO_READER })).toMatchObject({
      code: 0,
      stderr: "",
    });
  });

  it("ends silently if the reader of a listing is gone", async () => {
    for (const args of [
      ["help", "--json"],
      ["help", "settings", "--json"],
      ["config", "list", "--json"],
      ["config", "list"],
    ])
      expect(await runPaylink(args, { home: temporaryHome(), through: NO_READER })).toMatchObject({
        code: 0,
        stderr: "",
      });
  });
});

describe.runIf(existsSync("/dev/full"))("a command that fails, and whose lines are lost", () => {
  const books = ["reconcile", "--books", "-"];
  const env = async () => {
    const { url } = await rawServer(reply(200, '{"totalCount":0,"records":[]}'));
    return { PAYLINK_BASE_URL: url, PAYLINK_TOKEN: "token-1", PAYLINK_TERMINAL_ID: "1234567890" };
  };
  const input = "invoiceId,amount,currency\nINV-1,10,EUR\n";

  it("says both, and ends with 1: what a script has read is not the whole", async () => {
    const options = { home: temporaryHome(), input, env: await env(), through: FULL_DISK };
    const { code, stderr } = await runPaylink([...books, "--quiet"], options);
    expect(stderr).toContain("Records differ: 1 booked only");
    expect(stderr).toContain("stdout could not be written (the disk is full), so lines are missing.");
    expect(code).toBe(1);
  });

  it("ends with its own code if the reader has what it wants", async () => {
    const options = { home: temporaryHome(), input, env: await env(), through: NO_READER };
    const { code, stderr } = await runPaylink([...books, "--quiet"], options);
    expect(stderr).toMatch(/✗ Records differ: 1 booked only[^\n]*\n$/);
    expect(code).toBe(10);
  });
});

describe.each([
  ["stdin is closed", "<&-"],
  ["stdout is closed", ">&-"],
  ["stderr is closed", "2>&-"],
  ["all three are closed", "<&- >&- 2>&-"],
])("where %s", (_, closed) => {
  const through = ["sh", "-c", `exec "$@" ${closed}`, "sh"];
  const env = async () => {
    const { url } = await rawServer(reply(200, '{"totalCount":0,"records":[]}'));
    return { PAYLINK_BASE_URL: url, PAYLINK_TOKEN: "token-1", PAYLINK_TERMINAL_ID: "1234567890" };
  };

  it("a command ends as elsewhere, and says nothing of it", async () => {
    const options = { home: temporaryHome(), env: await env(), through };
    for (const args of [
      ["help", "--json"],
      ["links", "list", "--json"],
      ["reconcile", "--json"],
    ])
      expect({ args, ...(await runPaylink(args, options)) }).toMatchObject({ args, code: 0, stderr: "" });
    expect((await runPaylink(["events", "show", "nope"], options)).code).toBe(2);
  });
});
