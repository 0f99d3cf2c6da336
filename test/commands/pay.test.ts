/** `paylink pay`, in process: its options, the payment, and what each failure says about the money. */
import { describe, expect, it } from "vitest";
import { startSandboxCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { freePort } from "../support/ports.ts";
import { rawServer } from "../support/raw-server.ts";
import { createLink } from "../support/sandbox-link.ts";

const ONE_TIME = { amount: 10, linkOptions: undefined, expirationDate: "2999-01-01T00:00:00Z" };

describe("paylink pay", () => {
  it("pays by URL and by id, for people and for scripts", async () => {
    const home = temporaryHome();
    const sandbox = await startSandboxCommand(home);
    const { id, url } = await createLink(sandbox.url);
    const shown = await runCommand(["pay", url, "--amount", "7.50"], { home });
    expect(shown).toMatchObject({ exit: 0, stderr: "" });
    expect(shown.stdout).toMatch(/^APPROVED +EUR 7\.50 /);
    const quiet = await runCommand(["pay", url, "--amount", "7.50", "--quiet"], { home });
    expect(quiet.stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    const args = ["pay", id, "--amount", "2.50", "--outcome", "declined", "--json"];
    const declined = await runCommand(args, { home });
    expect(declined.stderr).toBe("");
    const partly = await runCommand(["pay", id, "--amount", "7.51", "--outcome", "partially-approved"], {
      home,
    });
    expect(partly.stdout).toMatch(/^PARTIALLY_APPROVED +EUR 3\.75 /);
    expect(JSON.parse(declined.stdout)).toMatchObject({
      outcome: "DECLINED",
      amount: 2.5,
      currency: "EUR",
      violations: [],
      record: { transApproved: false, transCancelled: false, amountTrans: 2.5 },
    });
  });

  it("pays with a test card, by its name or its number", async () => {
    const home = temporaryHome();
    const sandbox = await startSandboxCommand(home);
    const { url } = await createLink(sandbox.url, ONE_TIME);
    const declined = await runCommand(["pay", url, "--card", "insufficient-funds", "--json"], { home });
    expect(declined).toMatchObject({ exit: 0, stderr: "" });
    expect(JSON.parse(declined.stdout)).toMatchObject({
      outcome: "DECLINED",
      record: { responseCode: "51", cardPan: "************9995" },
    });
    const expired = await runCommand(["pay", url, "--card", "expired-card"], { home });
    expect(expired.stdout).toMatch(/^DECLINED +EUR 10\.00 /);
    expect(expired.stderr).toBe("Response code 54, expired card.\n");
    const approved = await runCommand(["pay", url, "--card", "3782-822463-10005"], { home });
    expect(approved.stdout).toMatch(/^APPROVED +EUR 10\.00 .* AMEX {2}\*{11}0005 /);
  });

  it("says that nothing was paid if the sandbox refuses, or does not answer", async () => {
    const home = temporaryHome();
    const sandbox = await startSandboxCommand(home);
    const { url } = await createLink(sandbox.url, ONE_TIME);
    expect((await runCommand(["pay", url], { home })).exit).toBe(0);
    const again = await runCommand(["pay", url], { home });
    expect(again).toMatchObject({ exit: 4, stdout: "" });
    expect(again.stderr).toContain("Nothing was paid");
    const open = await createLink(sandbox.url);
    expect((await runCommand(["pay", open.url], { home })).stderr).toBe(
      "✗ The service answered 422: amount is required: the link has no fixed amount.\n  Nothing was paid.\n",
    );
    const nowhere = await runCommand(["pay", `http://127.0.0.1:${await freePort()}/pay?r=x`], { home });
    expect(nowhere.exit).toBe(5);
    expect(nowhere.stderr).toContain("Nothing was paid");
  });

  it("says that the link may be paid if the answer is lost", async () => {
    const { url } = await rawServer((socket) => socket.destroy());
    const { exit, stderr } = await runCommand(["pay", `${url}/pay?r=x`]);
    expect(exit).toBe(6);
    expect(stderr).toContain("may be paid");
  });

  it("needs the sandbox to pay by id, and refuses any other profile or address", async () => {
    const none = await runCommand(["pay", "abc", "--json"]);
    expect(none.exit).toBe(3);
    expect(JSON.parse(none.stderr)).toMatchObject({ error: { code: "no_profile" } });
    const env = { PAYLINK_BASE_URL: "http://127.0.0.1:1", PAYLINK_TOKEN: "t" };
    expect((await runCommand(["pay", "abc"], { env })).exit).toBe(3);
    const { home } = await runCommand(["config", "set", "baseUrl", "http://127.0.0.1:1", "-p", "shop"]);
    const other = await runCommand(["pay", "abc", "-p", "shop"], { home });
    expect(other.exit).toBe(2);
    expect(other.stderr).toContain("Profile shop is not the sandbox. Nothing was sent.");
  });
});
