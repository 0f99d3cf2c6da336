/** What a bug of paylink shows: the error, and where in the program it was thrown. */
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";

/** Runs paylink in a Node that runs the code first. */
const runAfter = (code: string, ...args: string[]) =>
  runPaylink(args, {
    home: temporaryHome(),
    env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` },
  });

const LINK = ["--amount", "10", "--currency", "EUR", "--terminal-id", "T-1", "--customer-name", "Ada"];

describe("a crash", () => {
  const inCommand = `Date.prototype.toISOString = () => { throw new Error("the clock is broken"); };`;

  it("names the functions that were running", async () => {
    const { code, stdout, stderr } = await runAfter(inCommand, "create", ...LINK, "--dry-run");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^✗ Error: the clock is broken\n/);
    expect(stderr).toMatch(/^ +at .*formatInstant \(.*dist.\w+\.js:\d+:\d+\)$/m);
    expect(stderr).toMatch(/\n {2}This is a bug in paylink\. Please report it with the text above\.\n$/);
  });

  it("is one document with --json", async () => {
    const { code, stderr } = await runAfter(inCommand, "create", ...LINK, "--dry-run", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "internal", message: expect.stringMatching(/^Error: the clock is broken\n +at /) },
    });
  });

  it("is also reported where no command can catch it", async () => {
    const onListen = `import { Server } from "node:net"; const { listen } = Server.prototype; Server.prototype.listen = function (...args) {
      setImmediate(() => { throw new Error("nobody waits for this"); }); return listen.apply(this, args); };`;
    const { code, stderr } = await runAfter(onListen, "listen", "--port", "0", "--no-verify", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "internal", message: expect.stringMatching(/^Error: nobody waits for this\n/) },
    });
  });

  it("fails the run even if its command has ended", async () => {
    const late = `import { Writable } from "node:stream"; const { write } = Writable.prototype;
      process.stdout.write; process.once("beforeExit", () => undefined);
      const { removeListener } = process; process.off = function (...args) {
        if (args[0] === "SIGINT") queueMicrotask(() => { throw new Error("too late"); });
        return removeListener.apply(this, args); };`;
    const { code, stderr } = await runAfter(late, "create", ...LINK, "--dry-run");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^✗ .*too late/) as unknown });
  });
});
