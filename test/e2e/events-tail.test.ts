/** `paylink events tail`, the real program beside a running `listen`: prints what arrives, and goes on in a store that takes its place. */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { keyFile } from "../support/keys.ts";
import { readyUrl, startPaylink } from "../support/paylink.ts";
import { post, record, webhook } from "../support/webhooks.ts";

it("prints events as listen does until Ctrl-C, also those of a store at the same place", async () => {
  const home = temporaryHome();
  const db = join(home, "events.db");
  const start = () =>
    startPaylink(["listen", "--port", "0", "--key", keyFile(home), "--db", db, "--json"], { home });
  let listen = start();
  let url = await readyUrl(listen);
  const pay = async (uti: string, fields = {}): Promise<void> =>
    expect(await post(url, webhook(url, record({ uti, ...fields })))).toBe(200);
  await pay("uti-before");
  const tail = startPaylink(["events", "tail", "--db", db], { home });
  const compact = startPaylink(
    ["events", "tail", "--db", db, "--since", "1h", "--outcome", "approved", "--json", "--compact"],
    { home },
  );
  await compact.until(/uti-before/);
  const rejected = startPaylink(["events", "tail", "--db", db, "--rejected", "--json"], { home });
  await rejected.until(/"type":"ready"/);
  expect(
    await post(url, { ...webhook(url, record()), headers: [["Content-Type", "application/json"]] }),
  ).toBe(401);
  await rejected.until(/"type":"rejected"/);
  expect(jsonLines((await rejected.stop("SIGTERM")).stdout)).toMatchObject([
    { type: "ready", store: db, level: "info" },
    { type: "rejected", code: "unsigned", status: 401, level: "warning" },
  ]);
  await pay("uti-declined", { transApproved: false });
  await expect
    .poll(async () => (await pay(`uti-${Date.now()}`), tail.stdout()), { interval: 200 })
    .toMatch(/APPROVED[^]*uti-\d/);
  expect(tail.stdout()).not.toContain("uti-before");
  // What is not a terminal is a log: each event begins with its date.
  expect(tail.stdout()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d info APPROVED/m);
  await listen.stop();
  renameSync(db, `${db}.moved`);
  listen = start();
  url = await readyUrl(listen);
  await pay("uti-moved");
  await tail.until(/uti-moved/);
  await compact.until(/uti-moved/);
  const { code } = await tail.stop("SIGINT");
  expect(code).toBe(130);
  const { stdout } = await compact.stop("SIGTERM");
  const lines = jsonLines(stdout);
  const events = lines.filter(({ type }) => type === "event");
  expect(events.map(({ uti }) => uti)).not.toContain("uti-declined");
  for (const line of lines) expect(line).toMatchObject({ at: expect.any(String), level: expect.any(String) });
  for (const line of events) expect(line).not.toHaveProperty("record");
  await listen.stop();
});
