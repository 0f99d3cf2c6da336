/** `paylink transaction`, in process: its options, its ways out and what it prints. */
import { describe, expect, it } from "vitest";
import type { HttpRequest } from "../../src/http/message.ts";
import { runCommand } from "../support/context.ts";

const ENV = { PAYLINK_BASE_URL: "http://127.0.0.1:1", PAYLINK_TOKEN: "token" };
const RECORD = '{"uti":"u-1","transApproved":true,"transCancelled":false,"amountTrans":10.50}';

const answering = (status: number, body: string, seen: HttpRequest[] = []) => ({
  env: ENV,
  send: async (request: HttpRequest) => {
    seen.push(request);
    return { status, headers: [], body: new TextEncoder().encode(body) };
  },
});

describe("paylink transaction", () => {
  it("prints the verdict and the record with --json, numbers as they are spelled", async () => {
    const seen: HttpRequest[] = [];
    const run = await runCommand(["transaction", "u-1", "--json"], answering(200, RECORD, seen));
    expect(run).toMatchObject({ exit: 0, stderr: "" });
    expect(run.stdout).toContain(`"record":${RECORD}}`);
    expect(JSON.parse(run.stdout)).toMatchObject({ outcome: "APPROVED", amount: 10.5, uti: "u-1" });
    expect(seen.map(({ method, target }) => `${method} ${target}`)).toEqual(["GET /v1/transactions/u-1"]);
  });

  it("shows custom data in which nothing moves the terminal, at the address of the uti", async () => {
    const seen: HttpRequest[] = [];
    const body = RECORD.replace("}", ',"merchantCustomData":"table 7\\u001b[2J"}');
    const { stdout } = await runCommand(["transaction", "a/b"], answering(200, body, seen));
    expect(stdout).toMatch(/^APPROVED/);
    expect(stdout).toMatch(/merchantCustomData +table 7\\u\{1b\}\[2J/);
    expect(seen[0]?.target).toBe("/v1/transactions/a%2Fb");
  });

  it("names every problem at once", async () => {
    const run = await runCommand(["transaction", " ", "--timeout", "soon", "--json"], { env: ENV });
    expect(run.exit).toBe(2);
    expect(JSON.parse(run.stderr)).toMatchObject({
      error: {
        code: "usage",
        details: {
          problems: [{ at: "<uti>" }, { at: "--timeout", message: expect.stringContaining('(got "soon")') }],
        },
      },
    });
  });

  it.each([
    [401, "{}", 3, "unauthorized"],
    [404, "{}", 4, "refused"],
    [200, "[]", 5, "not_reached"],
  ])("ends a %i with %s by exit %i", async (status, body, exit, code) => {
    const run = await runCommand(["transaction", "u-1", "--json"], answering(status, body));
    expect(run.exit).toBe(exit);
    expect(JSON.parse(run.stderr)).toMatchObject({ error: { code } });
  });

  it("needs an account", async () => {
    expect((await runCommand(["transaction", "u-1"])).exit).toBe(3);
  });
});
