/** `paylink status`, in process: what it prints and how it ends for each answer of the service. */
import { describe, expect, it } from "vitest";
import { SendError } from "../../src/http/exchange.ts";
import { runCommand, type CommandOptions } from "../support/context.ts";

const ENV = { PAYLINK_BASE_URL: "http://127.0.0.1:1", PAYLINK_TOKEN: "token", PAYLINK_TERMINAL_ID: "7" };

const answering = (status: number): CommandOptions => ({
  env: ENV,
  send: async () => ({ status, headers: [], body: new Uint8Array() }),
});

describe("paylink status", () => {
  it.each([
    [404, 0, { answers: true, valid: true }],
    [200, 0, { answers: true, valid: true }],
    [401, 3, { answers: true, valid: false }],
    [403, 3, { answers: true, valid: false }],
    [302, 4, { answers: true, valid: null }],
  ])("after a %i ends with %i", async (status, exit, { answers, valid }) => {
    const run = await runCommand(["status", "--json"], answering(status));
    expect(run.exit).toBe(exit);
    expect(JSON.parse(run.stdout)).toMatchObject({
      profile: null,
      baseUrl: { value: ENV.PAYLINK_BASE_URL, source: "environment" },
      terminalId: { value: "7", source: "environment" },
      token: { source: "environment", valid, expires: null },
      webhookKey: null,
      service: { answers },
    });
    expect(run.stderr === "").toBe(exit === 0);
  });

  it("says that the token is accepted, and where each value comes from", async () => {
    const { stdout } = await runCommand(["status"], answering(404));
    expect(stdout).toMatch(/^token +accepted {2}\(environment\)$/m);
    expect(stdout).toMatch(/^terminal +7 {2}\(environment\)$/m);
    expect(stdout).toMatch(/^webhook key +none: paylink config set webhookKey/m);
    expect(stdout).toMatch(/^service now +answers \(\d+ ms\)$/m);
  });

  it("says when the token expires", async () => {
    const claims = Buffer.from(JSON.stringify({ exp: 1_800_000_000 })).toString("base64url");
    const env = { ...ENV, PAYLINK_TOKEN: `e30.${claims}.x` };
    const run = await runCommand(["status", "--json"], { ...answering(404), env });
    expect(JSON.parse(run.stdout)).toMatchObject({ token: { expires: "2027-01-15T08:00:00.000Z" } });
    const now = () => new Date("2027-01-15T06:00:00Z");
    expect((await runCommand(["status"], { ...answering(404), env, now })).stdout).toMatch(
      /^token +accepted, expires in 2 hours/m,
    );
  });

  it("shows the account although the service does not answer", async () => {
    const send = () => Promise.reject(new SendError("refused", false));
    const run = await runCommand(["status"], { env: ENV, send });
    expect(run.exit).toBe(5);
    expect(run.stdout).toMatch(/^token +not tried/m);
    expect(run.stdout).toMatch(/^service now +does not answer$/m);
  });

  it("does not ask the service without a token", async () => {
    const env = { PAYLINK_BASE_URL: ENV.PAYLINK_BASE_URL };
    const run = await runCommand(["status"], { ...answering(404), env });
    expect(run.exit).toBe(3);
    expect(run.stdout).toMatch(/^token +none: paylink login$/m);
    expect(run.stdout).toContain("not asked, without a token");
  });

  it("needs an account", async () => {
    const run = await runCommand(["status"]);
    expect(run).toMatchObject({ exit: 3, stdout: "" });
    expect(run.stderr).toContain("No account configured. Run one of:");
  });

  it("refuses a bad --timeout", async () => {
    const run = await runCommand(["status", "--timeout", "soon", "--json"], answering(404));
    expect(run).toMatchObject({ exit: 2, stdout: "" });
    expect(JSON.parse(run.stderr)).toMatchObject({
      error: {
        details: { problems: [{ at: "--timeout", message: expect.stringContaining('(got "soon")') }] },
      },
    });
  });
});
