/** What people see of `listen`, in process: whole records apart from each other, and each thing said once. */
import { describe, expect, it } from "vitest";
import { startCommand } from "../support/background-command.ts";
import { postWebhook, transactionRecord } from "../support/documented-webhook.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile, KEYS } from "../support/keys.ts";
import { jsonLines } from "../support/json-lines.ts";

/** A `listen` that two webhooks of the documented service have reached: header fields alone are signed, without `created`. */
async function listenTwice(...flags: string[]) {
  const home = temporaryHome();
  const command = startCommand(
    ["listen", "--port", "0", "--path", "/paid", "--key", keyFile(home), ...flags],
    {
      home,
      env: { PAYLINK_BASE_URL: "http://127.0.0.1:1", TZ: "UTC" },
    },
  );
  const [, url = ""] = await command.until(/(http:[^\s"]+)/);
  const bodies = (["approved", "declined"] as const).map((outcome, index) =>
    transactionRecord({
      reference: "INV-1",
      terminalId: "1",
      amount: 10,
      currency: "EUR",
      outcome,
      number: index + 1,
    }),
  );
  for (const body of bodies)
    expect((await postWebhook({ url, body, key: KEYS.privateKey })).status).toBe(200);
  const end = await command.stop();
  const warned = (code: string): number => end.stderr.split(code).length - 1;
  return { ...end, warned };
}

const OF_SERVICE = ["method_not_covered", "target_not_covered", "created_missing"];

describe("listen", () => {
  it("shows a card of each, and every field with --full", async () => {
    const card = await listenTwice();
    expect(card.stdout).toMatch(
      /^20\S+ [\d:]{8} [+-]\d\d:\d\d info DECLINED {2}EUR 10\.00 {2}INV-1\n {2}.*05 do not honour\n/m,
    );
    expect(card.stdout).not.toContain("authorisationCode");
    const { stdout, warned } = await listenTwice("--full");
    const [ready, ...records] = stdout.split(/^20\S+ [\d:]{8} [+-]\d\d:\d\d info (?=APPROVED|DECLINED)/m);
    expect(ready).toMatch(/^20\S+ [\d:]{8} [+-]\d\d:\d\d info Listening on http:\S+\n$/);
    expect(records).toHaveLength(2);
    expect(records[0]).toMatch(
      /^APPROVED {2}EUR 10\.00\n {2}received \d{4}-\d\d-\d\d .* at \/paid, event \w+\n/,
    );
    expect(records[1]).toMatch(/^DECLINED /);
    expect(records[1]).toMatch(/responseCode +05 {2}do not honour\n/);
    expect(records[1]).toMatch(/authorisationCode +–\n/);
    for (const code of OF_SERVICE) expect(warned(code) + card.warned(code)).toBe(0);
    expect(stdout).not.toContain("not_covered");
  });

  it("has a time and a level in each message and each rejection", async () => {
    const home = temporaryHome();
    const command = startCommand(["listen", "--port", "0", "--key", keyFile(home)], { home });
    const [, url = ""] = await command.until(/(http:[^\s"]+)/);
    await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
    const { stdout, stderr } = await command.stop();
    expect(stdout).toMatch(/^20\S+ [\d:]{8} [+-]\d\d:\d\d warning \w+ rejected 401 unsigned {2}/m);
    expect(stderr).toMatch(/^20\S+ [\d:]{8} [+-]\d\d:\d\d info This address is local/m);
    for (const line of stderr.trimEnd().split("\n"))
      expect(line).toMatch(/^(20\S+ [\d:]{8} [+-]\d\d:\d\d (info|warning) | {2})/);
  });

  it("shows a record in one line with --compact", async () => {
    const { stdout, warned } = await listenTwice("--compact");
    expect(stdout.trimEnd().split("\n")).toEqual([
      expect.stringContaining("Listening on"),
      expect.stringMatching(
        /^20\S+ [\d:]{8} [+-]\d\d:\d\d info APPROVED .* 6f9619ff-8b86-d011-b42d-000000000001$/,
      ),
      expect.stringMatching(
        /^20\S+ [\d:]{8} [+-]\d\d:\d\d info DECLINED .* 6f9619ff-8b86-d011-b42d-000000000002$/,
      ),
    ]);
    for (const code of OF_SERVICE) expect(warned(code)).toBe(0);
  });

  it("leaves headers, record and body out of its JSON lines with --compact, and nothing else", async () => {
    const eventsOf = async (...flags: string[]) =>
      jsonLines((await listenTwice("--json", ...flags)).stdout).filter(({ type }) => type === "event");
    const [whole, events] = [await eventsOf(), await eventsOf("--compact")];
    expect(events).toHaveLength(2);
    for (const [index, outcome] of ["APPROVED", "DECLINED"].entries()) {
      expect(events[index]).toMatchObject({
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        level: "info",
        outcome,
        amount: 10,
        currency: "EUR",
        reference: "INV-1",
        uti: `6f9619ff-8b86-d011-b42d-00000000000${index + 1}`,
        violations: [],
        verdict: { verdict: "valid", warnings: OF_SERVICE },
      });
      const { headers, record, bodyBase64, ...others } = whole[index] ?? {};
      expect([headers, record, bodyBase64]).toEqual([
        expect.any(Array),
        expect.any(Object),
        expect.any(String),
      ]);
      expect(others).toMatchObject({ verdict: { warnings: OF_SERVICE } });
      expect(Object.keys(events[index] ?? {})).toEqual(Object.keys(others));
    }
  });
});
