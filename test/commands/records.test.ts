/** One reader and one verdict: every deviation and every outcome, the same in each command that shows a record. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { recordOfSample } from "../../src/sender/samples.ts";
import { plainObject } from "../../src/values/json.ts";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { type JsonLine, jsonLines } from "../support/json-lines.ts";
import { keyFile } from "../support/keys.ts";
import { post, webhook } from "../support/webhooks.ts";

const CARD = "4111111111111111";
const gone = undefined;
const NOT_ATTEMPTED = {
  paymentId: gone,
  responseCode: gone,
  merchantTokenId: gone,
  emvCryptogramType: gone,
  authorisationCode: gone,
};

/** Changes to an approved record, its outcome, and the fields that are violations. */
const CASES: readonly [changes: Record<string, unknown>, outcome: string, violations: string[]][] = [
  [{}, "APPROVED", []],
  [{ transPartiallyApproved: true }, "PARTIALLY_APPROVED", []],
  [{ transPartiallyApproved: gone }, "APPROVED", ["transPartiallyApproved"]],
  [{ transPartiallyApproved: "yes" }, "UNCLEAR", ["transPartiallyApproved"]],
  [{ transApproved: false, authorisationCode: gone }, "DECLINED", []],
  [{ transApproved: false }, "DECLINED", ["authorisationCode"]],
  [{ transApproved: false, transCancelled: true, ...NOT_ATTEMPTED }, "CANCELLED", []],
  [{ transApproved: false, transCancelled: true, ...NOT_ATTEMPTED, status: "Open" }, "UNCLEAR", ["status"]],
  [{ transApproved: gone }, "UNCLEAR", ["transApproved"]],
  [{ transApproved: "true" }, "UNCLEAR", ["transApproved"]],
  [{ transCancelled: true }, "UNCLEAR", ["transCancelled"]],
  [{ status: "COMPLETE" }, "APPROVED", ["status"]],
  [{ status: gone }, "APPROVED", ["status"]],
  [{ status: "Pending" }, "UNCLEAR", ["status"]],
  [{ cardScheme: null }, "APPROVED", ["cardScheme"]],
  [{ stan: gone, emvAid: gone, emvTsi: gone }, "APPROVED", ["stan", "emvAid", "emvTsi"]],
  [{ merchantStoreId: "1" }, "APPROVED", ["merchantStoreId"]],
  [{ amountTrans: -10.5 }, "APPROVED", []],
  [{ amountTrans: "10.50" }, "APPROVED", ["amountTrans"]],
  [{ transCurrencyCode: "826" }, "APPROVED", ["transCurrencyCode"]],
  [{ orderId: CARD, batch: 4111111111111111 }, "APPROVED", []],
  [{ card: { number: CARD } }, "APPROVED", []],
];

const records = CASES.map(([changes]): Record<string, unknown> => {
  const sample = recordOfSample(
    { outcome: "approved", link: "one-time" },
    { newId: randomUUID, now: () => new Date() },
  );
  return { ...plainObject(sample), ...changes };
});

/** As it is shown: only the card number in a field for it is masked. */
const shown = (record: Record<string, unknown>): unknown => ({
  ...(JSON.parse(JSON.stringify(record)) as object),
  ...("card" in record ? { card: { number: "************1111" } } : {}),
});

const cases = CASES.map(([changes, outcome, violations], at) => {
  const sent = records[at] ?? {};
  const uti = String(sent["uti"]);
  const expected = {
    outcome,
    amount: sent["amountTrans"],
    currency: sent["transCurrencyCode"],
    reference: "INV-1001",
    uti,
    violations: violations.map((path) => expect.objectContaining({ path })),
  };
  return { changes, outcome, sent, uti, expected };
});

it("is judged alike by listen, events and verify, however it deviates, and as of its receipt", async () => {
  const home = temporaryHome();
  const listen = await startListenCommand(home, "--key", keyFile(home));
  for (const { sent } of cases) expect(await post(listen.url, webhook(listen.url, sent))).toBe(200);
  const received = jsonLines((await listen.stop()).stdout);
  const events = async (...args: string[]): Promise<JsonLine[]> =>
    jsonLines((await runCommand(["events", ...args], { home })).stdout);
  const listed = await events("list", "--json", "--limit", "100");
  const tomorrow = (): Date => new Date(Date.now() + 86_400_000);
  for (const { outcome, uti, sent, expected } of cases) {
    const line = (lines: readonly JsonLine[]) => lines.find((one) => one["uti"] === uti);
    const record = shown(sent);
    expect(line(received)).toMatchObject({ ...expected, record, level: "info", at: expect.any(String) });
    expect(line(listed)).toMatchObject({ ...expected, record });
    const name = outcome.toLowerCase().replace("_", "-");
    expect(line(await events("list", "--outcome", name, "--json"))).toBeDefined();
    const args = ["verify", "--event", uti, "--key", keyFile(home), "--json"];
    const verified = await runCommand(args, { home, now: tomorrow });
    expect(verified.exit).toBe(0);
    expect(JSON.parse(verified.stdout)).toMatchObject({ ...expected, record });
  }
}, 60_000);

it.each(cases)("is $outcome in transaction: $changes", async ({ uti, sent, expected }) => {
  const send = async () => ({ status: 200, headers: [], body: Buffer.from(JSON.stringify(sent)) });
  const env = { PAYLINK_BASE_URL: "http://127.0.0.1:1", PAYLINK_TOKEN: "token" };
  const { exit, stdout } = await runCommand(["transaction", uti, "--json"], { env, send });
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ...expected, record: shown(sent) });
});
