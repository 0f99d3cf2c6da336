/** Services that wrap the record, name another JSON type, or sign late. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { postWebhook, type PostedWebhook } from "../support/documented-webhook.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { keyFile, KEYS } from "../support/keys.ts";
import { record } from "../support/webhooks.ts";

/** The home of a merchant who has the key of the webhooks, and these settings. */
async function merchant(settings: Readonly<Record<string, string>>): Promise<string> {
  const home = temporaryHome();
  const all = { webhookKey: keyFile(home), ...settings };
  for (const [key, value] of Object.entries(all)) await runCommand(["config", "set", key, value], { home });
  return home;
}

const wrapped = (changes = {}): object => ({ type: "payment", data: record(changes) });

/** Seconds before now. */
const ago = (seconds: number): number => Math.floor(Date.now() / 1000) - seconds;

/** Posts a webhook to a `listen` of the merchant, and gives its status with the line that is printed for it. */
async function receive(
  home: string,
  webhook: { readonly body?: object; readonly created?: number; readonly mediaType?: string },
  ...flags: string[]
): Promise<PostedWebhook & { readonly line: unknown }> {
  const listen = await startListenCommand(home, ...flags);
  const posted = await postWebhook({ url: listen.url, body: record(), key: KEYS.privateKey, ...webhook });
  const { stdout } = await listen.stop();
  const line = jsonLines(stdout).find(({ type }) => type === "event" || type === "rejected");
  return { ...posted, line };
}

describe("a record in an envelope", () => {
  it("is found by itself in listen, events and verify", async () => {
    const shop = await merchant({});
    const body = wrapped({ uti: "U-1", amountTrans: 12.5, reference: "INV-9" });
    const { status, line, message } = await receive(shop, { body });
    expect(status).toBe(200);
    const expected = { outcome: "APPROVED", record: { uti: "U-1", amountTrans: 12.5 } };
    expect(line).toMatchObject(expected);
    const list = await runCommand(["events", "list", "--json"], { home: shop });
    expect(JSON.parse(list.stdout)).toMatchObject({ uti: "U-1", amount: 12.5, reference: "INV-9" });
    const { stdout } = await runCommand(["events", "show", "U-1", "--json"], { home: shop });
    expect(JSON.parse(stdout)).toMatchObject(expected);
    const capture = join(shop, "webhook.http");
    writeFileSync(capture, message);
    const verified = await runCommand(["verify", capture, "--json"], { home: shop });
    expect(JSON.parse(verified.stdout)).toMatchObject({ verdict: "valid", ...expected });
  });

  it("is not guessed if there are two: the whole body is shown, as UNCLEAR", async () => {
    const body = { before: record(), after: record() };
    const { status, line } = await receive(await merchant({}), { body });
    expect(status).toBe(200);
    expect(line).toMatchObject({ outcome: "UNCLEAR", record: body });
    expect(line).toHaveProperty(
      "violations",
      expect.arrayContaining([
        { code: "body_schema", path: "", message: "must hold one record, and holds 2" },
      ]),
    );
  });
});

describe("the media type", () => {
  it.each([
    ["application/vnd.service.event+json", 200],
    ["application/cloudevents+json; charset=utf-8", 200],
    ["Application/JSON", 200],
    ["application/+json", 415],
    ["application/json-seq", 415],
    ["text/json", 415],
  ])("%s: %d", async (mediaType, status) => {
    expect((await receive(await merchant({}), { mediaType })).status).toBe(status);
  });
});

describe("the policy of the profile", () => {
  it.each([
    ["an old signature", {}, [], 401],
    ["a greater tolerance", { tolerance: "1h" }, [], 200],
    ["a flag that is stricter than the profile", { tolerance: "1h" }, ["--tolerance", "5m"], 401],
  ])("of listen: %s", async (_, settings, flags, status) => {
    expect((await receive(await merchant(settings), { created: ago(1800) }, ...flags)).status).toBe(status);
  });

  it("refuses a signature without created if the profile requires it", async () => {
    const shop = await merchant({ requireCreated: "true" });
    const { status, line, message } = await receive(shop, {});
    expect(status).toBe(401);
    expect(line).toMatchObject({ code: "created_missing" });
    const { stdout } = await runCommand(["verify", "--json"], { home: shop, stdin: message });
    expect(JSON.parse(stdout)).toMatchObject({ code: "created_missing" });
  });

  it("holds in verify", async () => {
    const shop = await merchant({ tolerance: "1h" });
    const { message } = await receive(shop, { created: ago(1800) });
    const run = (...flags: string[]) =>
      runCommand(["verify", "--json", ...flags], { home: shop, stdin: message });
    expect((await run()).exit).toBe(0);
    expect((await run("--tolerance", "5m")).exit).toBe(7);
  });
});
