/** `paylink trigger --from`, in process: the record of a stored event as the base of what is sent. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile, KEY_ENV, OTHER_KEYS, privateKeyFile } from "../support/keys.ts";
import { forged, post, record, webhook } from "../support/webhooks.ts";

const STORED = record({ reference: "INV-7", amountTrans: 12.5, loyaltyProgramme: "gold" });

/** A home with one stored event, and a run of `trigger --dry-run` in it. */
async function storedHome(stored: Readonly<Record<string, unknown>> | Uint8Array = STORED) {
  const home = temporaryHome();
  const listen = await startListenCommand(home, "--key", keyFile(home));
  expect(await post(listen.url, webhook(listen.url, stored))).toBe(200);
  expect(await post(listen.url, forged(webhook(listen.url, record())))).toBe(401);
  await listen.stop();
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = KEY_ENV) =>
    runCommand(["trigger", ...args, "--sign-with", privateKeyFile(home), "--dry-run"], { home, env });
  const sent = async (...args: string[]): Promise<unknown> => {
    const { exit, stdout, stderr } = await run(args);
    expect({ exit, stderr }).toMatchObject({ exit: 0 });
    return JSON.parse(stdout.slice(stdout.indexOf("\r\n\r\n")));
  };
  return { home, run, sent };
}

it("sends the record of an event with another uti, or with its own", async () => {
  const { sent } = await storedHome();
  const again = await sent("--from", String(STORED["uti"]));
  expect(again).toEqual({ ...STORED, uti: expect.not.stringContaining(String(STORED["uti"])) });
  expect(await sent("--from", "INV-7", "--same-uti")).toEqual(STORED);
});

it("changes what the flags name", async () => {
  const { sent } = await storedHome();
  const flags = ["--amount", "1.20", "--currency", "GBP", "--reference", "INV-8", "--set", "cardScheme=AMEX"];
  expect(await sent("--from", "INV-7", ...flags)).toMatchObject({
    amountTrans: 1.2,
    transCurrencyCode: "GBP",
    reference: "INV-8",
    cardScheme: "AMEX",
    loyaltyProgramme: "gold",
  });
});

it("gives the payment another outcome, with the fields that it depends on", async () => {
  const { sent } = await storedHome({ ...STORED, authorisationCode: "123456", responseCode: "00" });
  const declined = await sent("declined", "--from", "INV-7");
  expect(declined).toMatchObject({ transApproved: false, reference: "INV-7", amountTrans: 12.5 });
  expect(declined).not.toHaveProperty("authorisationCode");
  expect(declined).not.toMatchObject({ responseCode: "00" });
});

it("says that an event is of another account, or that it is not known", async () => {
  const { home, run } = await storedHome();
  expect((await run(["--from", "INV-7"])).stderr).not.toContain("key");
  const other = join(home, "other.pem");
  writeFileSync(other, OTHER_KEYS.publicPem);
  const ofOther = await run(["--from", "INV-7"], { PAYLINK_WEBHOOK_KEY: other });
  expect(ofOther.exit).toBe(0);
  expect(ofOther.stderr).toContain("it is of another account");
  const unread = await run(["--from", "INV-7"], { PAYLINK_WEBHOOK_KEY: join(home, "missing.pem") });
  expect(unread.exit).toBe(0);
  expect(unread.stderr).toContain("it is not known whether");
});

it.each([
  [[], "is required: approved, partially-approved, declined, cancelled; or --from"],
  [["approved", "--same-uti"], "--same-uti has no effect without --from"],
  [["--from", "INV-7", "--link", "reusable"], "--link cannot be used with --from"],
  [["--from", "INV-7", "--amount", "1.234"], "must have at most 2 decimals in EUR"],
  [["--from", "INV-9"], "No event has the uti, id or order number INV-9"],
])("refuses %j", async (args, words) => {
  const { run } = await storedHome();
  const { exit, stderr } = await run(args);
  expect(exit).toBe(2);
  expect(stderr.replace(/\s+/g, " ")).toContain(words);
});

it("refuses an event that was rejected, and one without a record", async () => {
  const { home, run } = await storedHome(Buffer.from("hello"));
  const listed = async (...flags: string[]): Promise<string> =>
    (await runCommand(["events", "list", "-q", ...flags], { home })).stdout.trim();
  expect((await run(["--from", await listed("--rejected")])).stderr).toContain("was rejected");
  expect((await run(["--from", await listed()])).stderr).toContain("holds no record");
});
