/** `paylink transaction`, in process: its options, its ways out and what it prints. */
import { describe, expect, it } from "vitest";
import { answering } from "../support/account.ts";
import { runCommand } from "../support/context.ts";

const RECORD = '{"uti":"u-1","transApproved":true,"transCancelled":false,"amountTrans":10.50}';

describe("paylink transaction", () => {
  it("prints the verdict and the record with --json, numbers as they are spelled", async () => {
    const service = answering(200, RECORD);
    const run = await runCommand(["transaction", "u-1", "--json"], service);
    expect(run).toMatchObject({ exit: 0, stderr: "" });
    expect(run.stdout).toContain(`"record":${RECORD}}`);
    expect(JSON.parse(run.stdout)).toMatchObject({ outcome: "APPROVED", amount: 10.5, uti: "u-1" });
    expect(service.requests.map(({ line }) => line)).toEqual(["GET /v1/transactions/u-1"]);
  });

  it("shows custom data with its control characters escaped, at the address of the uti", async () => {
    const service = answering(
      200,
      RECORD.replace("u-1", "a/b").replace("}", ',"merchantCustomData":"table 7\\u001b[2J"}'),
    );
    const { stdout } = await runCommand(["transaction", "a/b"], service);
    expect(stdout).toMatch(/^APPROVED/);
    expect(stdout).toMatch(/merchantCustomData +table 7\\u\{1b\}\[2J/);
    expect(service.requests[0]?.line).toBe("GET /v1/transactions/a%2Fb");
  });

  it.each([
    [401, "{}", 3, "unauthorized"],
    [404, "{}", 4, "refused"],
    [200, "[]", 5, "not_reached"],
    [408, "{}", 5, "not_reached"],
    [200, RECORD.replace("u-1", "u-2"), 5, "not_reached"],
    [200, `[${RECORD},${RECORD}]`, 6, "outcome_unknown"],
    [200, `{"data":[${RECORD},${RECORD}]}`, 6, "outcome_unknown"],
    [200, '{"success":false,"message":"unknown"}', 4, "refused"],
  ])("turns a %i with %s into exit %i", async (status, body, exit, code) => {
    const run = await runCommand(["transaction", "u-1", "--json"], answering(status, body));
    expect(run.exit).toBe(exit);
    expect(JSON.parse(run.stderr)).toMatchObject({ error: { code } });
  });

  it("prints nothing if the answer is another transaction, and names both", async () => {
    const run = await runCommand(["transaction", "u-9", "-q"], answering(200, RECORD));
    expect(run).toMatchObject({ exit: 5, stdout: "" });
    expect(run.stderr).toContain("the transaction u-1 instead of u-9");
  });

  it.each([`[${RECORD}]`, `{"data":[${RECORD}]}`, `{"records":[${RECORD}],"totalCount":1}`])(
    "reads a list with a single record: %s",
    async (body) => {
      expect(await runCommand(["transaction", "U-1", "-q"], answering(200, body))).toMatchObject({
        exit: 0,
        stdout: "u-1\n",
      });
    },
  );

  it("shows the whole answer if it has several records", async () => {
    const body = `[${RECORD},${RECORD.replace("u-1", "u-2")}]`;
    const run = await runCommand(["transaction", "u-1", "--json"], answering(200, body));
    expect(JSON.parse(run.stderr)).toMatchObject({ error: { details: { body } } });
  });

  it("needs an account", async () => {
    expect((await runCommand(["transaction", "u-1"])).exit).toBe(3);
  });
});
