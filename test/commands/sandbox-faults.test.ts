/** The faults of the sandbox's API and what the commands make of them, in process, and a sandbox that is emptied between two tests. */
import { describe, expect, it } from "vitest";
import { startSandboxCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";

const CREATE = ["create", "--amount", "10", "--currency", "EUR", "-p", "sandbox"];

async function open(...flags: readonly string[]) {
  const home = temporaryHome();
  const { url } = await startSandboxCommand(home, ...flags);
  const run = (...args: readonly string[]) => runCommand(args, { home });
  const links = async (): Promise<number> =>
    (await run("links", "list", "-p", "sandbox", "--json")).stdout.split("\n").filter(Boolean).length;
  return { url, run, links };
}

describe("a fault of the API", () => {
  it.each([
    [
      "create=lost:1",
      6,
      /no usable answer arrived.*the connection was closed[^]*links list --terminal-id .* --since /,
      1,
    ],
    ["create=500:1", 6, /answered 500: a fault that was set.*\n.*The link may exist/, 0],
    ["create=html:1", 6, /answered 503: an HTML page[^]*The link may exist/, 0],
    ["create=408:1", 6, /answered 408[^]*The link may exist/, 0],
    ["create=422", 4, /answered 422[^]*Nothing was created/, 0],
    ["create=429:1", 0, /The service answered 429 and did nothing\. Trying again in 1\.0 s/, 1],
    ["create=503:1", 0, /The service answered 503 and did nothing\. Trying again/, 1],
    ["create=gzip", 0, /To pay it as the customer/, 1],
    ["list=late=100ms", 0, /To pay it as the customer/, 1],
  ])("%s: create ends with %i", async (fault, exit, words, created) => {
    const { run, links } = await open("--fail", fault);
    const { exit: code, stderr } = await run(...CREATE);
    expect([code, stderr]).toEqual([exit, expect.stringMatching(words)]);
    expect(await links()).toBe(created);
  });

  it("creates a link whose answer comes too late", async () => {
    const { run, links } = await open("--fail", "create=late=1h");
    const { exit: code, stderr } = await run(...CREATE, "--timeout", "5s");
    expect([code, stderr]).toEqual([6, expect.stringContaining("The link may exist")]);
    expect(await links()).toBe(1);
  });

  it("does not end create --wait, and costs no second link", async () => {
    const { run, links } = await open("--fail", "details=lost:1");
    const created = await run(...CREATE, "-q");
    const waiting = run(...CREATE, "--wait", "--timeout", "30s");
    await run("pay", created.stdout.trim());
    const { stdout } = await run("links", "list", "-p", "sandbox", "--status", "active", "--json");
    const [id = ""] = stdout
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [String(JSON.parse(line).id)]));
    await run("pay", id, "-p", "sandbox");
    expect(await waiting).toMatchObject({ exit: 0 });
    expect(await links()).toBe(2);
  });

  it("is set, shown, counted and cleared while the sandbox runs", async () => {
    const { run } = await open();
    expect((await run("sandbox", "fail")).stdout).toBe(
      "No fault is set: the API works as the service does.\n",
    );
    expect((await run("sandbox", "fail", "create=422:2", "list=503")).stdout).toBe(
      "create=422  applies 2 times more\nlist=503  applies every time\n",
    );
    expect((await run(...CREATE)).exit).toBe(4);
    expect(JSON.parse((await run("sandbox", "fail", "--json")).stdout)).toEqual({
      faults: [
        { operation: "create", fault: "422", count: 1 },
        { operation: "list", fault: "503", count: null },
      ],
    });
    expect((await run("sandbox", "fail", "--clear", "create=lost:1")).stdout).toBe(
      "create=lost  applies once more\n",
    );
    expect((await run("sandbox", "fail", "--clear")).stdout).toContain("No fault is set");
    expect((await run(...CREATE)).exit).toBe(0);
  });

  it.each([
    ["creat=lost", /did you mean create=lost\?/],
    ["create=lots", /did you mean create=lost\?/],
    ["create", /must be <operation>=<fault>/],
    ["create=200", /must be a status of 400 to 599/],
    ["create=lost:0", /must have a count of 1 or more/],
    ["create=late=soon", /soon/],
  ])("%s is refused", async (fault, words) => {
    const home = temporaryHome();
    const { exit, stderr } = await runCommand(["sandbox", "--port", "0", "--fail", fault], { home });
    expect([exit, stderr]).toEqual([2, expect.stringMatching(words)]);
  });
});

it("is emptied by reset, also by a plain request with its token", async () => {
  const { url, run, links } = await open("--fail", "details=500");
  await run(...CREATE);
  expect((await run("sandbox", "reset")).stdout).toContain(
    "Deleted the sandbox's links, payments, deliveries, requests and faults.",
  );
  expect(await links()).toBe(0);
  expect((await run("sandbox", "fail")).stdout).toContain("No fault is set");
  await run(...CREATE);
  const refused = await fetch(`${url}sandbox/reset`, { method: "POST" });
  expect([refused.status, await links()]).toEqual([401, 1]);
});
